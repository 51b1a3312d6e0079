/** Protected-resource metadata (RFC 9728): where a client gets an access token for an endpoint. */
import type { FastifyInstance } from 'fastify';
import { textIn } from '../config/text.ts';
import type { Endpoint } from './endpoint.ts';

export interface MetadataSettings {
  readonly issuer: string;
  /** Scopes to ask for. */
  readonly scopes: readonly string[];
}

/** Browser-based clients read this from other origins, with headers of their own, and it is the same for everyone (CORS). */
const openToAll = { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET, OPTIONS', 'access-control-allow-headers': '*' } as const;

export function registerResourceMetadata(server: FastifyInstance, endpoints: readonly Endpoint[], settings: MetadataSettings): void {
  for (const endpoint of endpoints) {
    const metadata = {
      resource: endpoint.resource,
      authorization_servers: [settings.issuer],
      bearer_methods_supported: ['header'],
      resource_name: textIn(endpoint.upstream.config.title, 'en'),
      ...(settings.scopes.length === 0 ? {} : { scopes_supported: settings.scopes }),
    };
    server.get(endpoint.metadataPath, { exposeHeadRoute: false }, (_request, reply) => reply.headers(openToAll).header('cache-control', 'public, max-age=300').send(metadata));
    server.options(endpoint.metadataPath, (_request, reply) => reply.code(204).headers(openToAll).send());
  }
}

/** A `WWW-Authenticate` challenge (RFC 6750 §3, RFC 9728 §5.1). @param parameters `error`, `scope` and the like */
export function challengeHeader(metadataUrl: string, parameters: Readonly<Record<string, string>>): string {
  const all = { ...parameters, resource_metadata: metadataUrl };
  return `Bearer ${Object.entries(all).map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
