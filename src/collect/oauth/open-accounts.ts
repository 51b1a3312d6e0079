/** The station that connects accounts, as the file wants it, and how this installation describes itself to third parties. */
import { isOnThisMachine } from '../../config/defaults.ts';
import type { Config, HttpUpstream } from '../../config/config.ts';
import { textIn } from '../../config/text.ts';
import type { Fetch } from '../../identity/fetch.ts';
import type { Log } from '../../operate/log.ts';
import type { Clock, Store } from '../../stores/store.ts';
import type { KeyRing } from '../../vault/key-ring.ts';
import { createAccounts, type Accounts } from './accounts.ts';
import { createClientKeys, type ClientKeys } from './client-keys.ts';
import { createClientRegistry, type Installation } from './client.ts';
import { createJourneys } from './journeys.ts';
import { createProviders } from './provider.ts';
import { readKey } from './third-party.ts';

export interface AccountsStation {
  readonly accounts: Accounts;
  readonly installation: Installation;
  readonly keys: ClientKeys;
}

export interface StationParts {
  readonly config: Config;
  readonly store: Store;
  readonly ring: KeyRing;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly now: Clock;
  /** `{publicUrl}…`, without a slash at its end: what the pages hang below. */
  readonly base: string;
}

export async function openAccounts({ config, store, ring, fetch, log, now, base }: StationParts): Promise<AccountsStation> {
  const { namespace } = config.vault;
  const keys = await createClientKeys(ring);
  // A document that only this machine can read introduces nobody.
  const isReadable = config.server.publicUrl.protocol === 'https:' && !isOnThisMachine(config.server);
  const installation: Installation = {
    name: textIn(config.pages.name, 'en'),
    redirectUri: `${base}/oauth/callback`,
    ...(isReadable ? { documents: { signed: `${base}/client.json`, plain: `${base}/client-public.json`, jwks: `${base}/client-jwks.json` } } : {}),
  };
  const accounts = createAccounts({
    providers: createProviders(fetch, now),
    clients: createClientRegistry(installation, store, ring, namespace, fetch, now),
    journeys: createJourneys(store, ring, namespace),
    redirectUri: installation.redirectUri,
    keys,
    fetch,
    log,
    now,
  });
  return { accounts, installation, keys };
}

/** Origins that the file names for accounts: they may be private, because the operator chose them. */
export function accountOrigins(config: Config): readonly string[] {
  const named = Object.values(config.credentials).flatMap((credential) => {
    if (credential.kind !== 'oauth') return [];
    const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = credential;
    return [issuer, authorizationEndpoint?.href, tokenEndpoint?.href, revocationEndpoint?.href];
  });
  const upstreams = Object.values(config.upstreams).filter((upstream): upstream is HttpUpstream => 'url' in upstream);
  return [...named.flatMap((url) => (url === undefined ? [] : [new URL(url).origin])), ...upstreams.map(({ url }) => url.origin)];
}

/** @returns one sentence about a private key that the file names and that cannot be used */
export function unusableKey(config: Config): string | undefined {
  for (const { kind, name, ...credential } of Object.values(config.credentials)) {
    const clientAuth = 'clientAuth' in credential ? credential.clientAuth : undefined;
    if (kind !== 'oauth' || clientAuth?.method !== 'private_key_jwt') continue;
    try {
      readKey(clientAuth.key);
    } catch {
      return `credentials.${name}.clientAuth.key is no private key that can be read: use PEM (PKCS #8) or JWK, without a passphrase.`;
    }
  }
  return undefined;
}
