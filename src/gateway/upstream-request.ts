/** What an upstream that keeps a connection or a process for each person must know beside the request itself. */
import { personKey } from '../identity/principal.ts';
import type { UpstreamRequest } from '../upstreams/upstream.ts';
import type { Call } from './call.ts';
import type { HeldCredential } from './decide.ts';
import { renderEnv } from './inject-env.ts';
import { renderHeaders, sensitiveValues } from './inject.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';

type Personal = Pick<UpstreamRequest, 'person' | 'env' | 'injected' | 'secrets'>;

export function personal({ held, principal, upstream }: Call): Personal {
  return upstream.config.transport === 'streamable-http' ? {} : personalFor(upstream, held, personKey(principal));
}

/** @param person whose process or connection it is */
export function personalFor({ config: { transport } }: ProtectedUpstream, held: readonly HeldCredential[], person: string): Personal {
  if (transport === 'streamable-http') return {};
  if (held.length === 0) return { person };
  const secrets = held.flatMap(sensitiveValues);
  return transport === 'stdio' ? { person, env: renderEnv(held), secrets } : { person, injected: renderHeaders(held), secrets };
}
