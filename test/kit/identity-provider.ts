/**
 * A real identity provider: `oidc-provider` on a free loopback port, with two people, a client for the
 * login of the pages, and two clients that MCP callers use. It issues resource-bound `at+jwt` access
 * tokens (RFC 9068, RFC 8707), changes its keys, gives each client another subject when told so
 * (pairwise), and can be out of reach. Whoever asks for them may sign tokens of any content with its key.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { importJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import Provider, { interactionPolicy, type Configuration, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider';
import { planted } from './planted.ts';

export interface TokenWish {
  /** The resource; what stands in `aud`. */
  readonly audience: string;
  /** Default `desk`. */
  readonly client?: 'desk' | 'phone';
  readonly scope?: string;
  readonly expiresInSeconds?: number;
  /** For introspection, not for reading. */
  readonly isOpaque?: boolean;
}

export interface IdentityProvider {
  readonly issuer: string;
  /** What stands under `login` in the file. */
  readonly login: string;
  /** An access token of a person, by the provider's own hand. */
  readonly token: (person: string, wish: TokenWish) => Promise<string>;
  /** Any claims and header, signed with the provider's current key. */
  readonly sign: (claims: JWTPayload, header?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** The current public key. */
  readonly publicKey: () => JWK;
  /** Publishes a further key; `switchKey` signs with it from then on and withdraws the old one. */
  readonly publishKey: () => void;
  readonly switchKey: () => void;
  readonly setReachable: (isReachable: boolean) => void;
  /** Paths that were asked for, in order. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

export interface IdentityProviderOptions {
  /** Each client knows a person by another subject; the claim `uid` is the same for all. */
  readonly isPairwise?: boolean;
  /** Further addresses to which a login may return. */
  readonly redirectUris?: readonly string[];
}

/** Names by subject; a test may add one. */
export const people: Record<string, string> = { ada: 'Ada Lovelace', ben: 'Ben Ali' };

/** Where the login client may return on loopback, on any port (RFC 8252 §7.3). */
const callbacks = ['http://127.0.0.1/auth/callback', 'http://localhost/auth/callback', 'http://127.0.0.1/pages/auth/callback'];
const loginSecret = planted('login-secret-1b7f');
/** Every signed token begins like this, and none may be found in a log. */
planted('eyJhbGciOi');

export async function startIdentityProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const requests: string[] = [];
  let isReachable = true;
  let keys = [newKey()];
  const server = createServer((incoming, response) => {
    if (!isReachable) {
      incoming.socket.destroy();
      return;
    }
    requests.push(new URL(incoming.url ?? '', 'http://provider').pathname);
    void provider.callback()(incoming, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  let provider = createProvider(issuer, keys, options);

  function setKeys(next: JWK[]): void {
    keys = next;
    provider = createProvider(issuer, keys, options);
  }
  return {
    issuer,
    login: `{ clientId: elicitgate, clientSecret: ${loginSecret} }`,
    token: (person, wish) => mint(provider, person, wish),
    async sign(claims, header = {}) {
      const [jwk] = keys;
      if (jwk === undefined) throw new Error('the provider has no key');
      return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }), typ: 'at+jwt', ...header }).sign(await importJWK(jwk, 'RS256'), { crit: { b65: true } });
    },
    publicKey() {
      const { kty, n, e, kid } = keys[0] ?? {};
      return { kty, n, e, kid } as JWK;
    },
    publishKey: () => { setKeys([...keys, newKey()]); },
    switchKey: () => { setKeys(keys.length > 1 ? keys.slice(1) : [newKey()]); },
    setReachable: (next) => { isReachable = next; },
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function newKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...(privateKey.export({ format: 'jwk' }) as JWK), kid: randomUUID(), alg: 'RS256', use: 'sig' };
}

function createProvider(issuer: string, keys: readonly JWK[], { isPairwise = false, redirectUris = [] }: IdentityProviderOptions): Provider {
  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.remove('native_client_prompt');
  const subject = { subject_type: isPairwise ? 'pairwise' : 'public' } as const;
  const caller = { ...subject, application_type: 'native', token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/callback'] } as const;
  const configuration: Configuration = {
    clients: [
      { ...subject, client_id: 'elicitgate', client_secret: loginSecret, application_type: 'native', redirect_uris: [...callbacks.filter((uri) => !isPairwise || uri.includes('127.0.0.1')), ...redirectUris] },
      { ...caller, client_id: 'desk', client_name: 'Desk' },
      { ...caller, client_id: 'phone', client_name: 'Phone' },
    ],
    jwks: { keys: keys },
    claims: { openid: ['sub'], profile: ['name', 'uid'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key for its cookies'] },
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: (_context, accountId, { clientId }) => Promise.resolve(`${accountId}-for-${clientId}`),
    findAccount: (_context, id) => (people[id] === undefined ? undefined : { accountId: id, claims: () => ({ sub: id, name: people[id], uid: `uid-${id}` }) }),
    extraTokenClaims: (_context, token) => ('accountId' in token ? { uid: `uid-${token.accountId}` } : undefined),
    loadExistingGrant: ({ oidc }) => grantAll(oidc),
    interactions: { policy },
    pkce: { required: () => true },
    ttl: { AccessToken: (_context, token) => token.resourceServer?.accessTokenTTL ?? 3_600, Grant: 86_400, IdToken: 3_600, Interaction: 3_600, Session: 86_400 },
    features: {
      devInteractions: { enabled: true },
      introspection: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: (_context, audience) => resourceServer({ audience }), useGrantedResource: () => true },
    },
  };
  return quietly(() => new Provider(issuer, configuration));
}

function resourceServer({ audience, scope = 'mcp', expiresInSeconds = 3_600, isOpaque = false }: TokenWish): ResourceServer {
  return { audience, scope, accessTokenTTL: expiresInSeconds, accessTokenFormat: isOpaque ? 'opaque' : 'jwt' };
}

/** Nobody has to consent to what a client asks for. */
async function grantAll({ client, session, params, provider }: KoaContextWithOIDC['oidc']) {
  const { clientId = '' } = client ?? {};
  const known = session?.grantIdFor(clientId);
  const grant = (known === undefined ? undefined : await provider.Grant.find(known)) ?? new provider.Grant({ clientId, accountId: session?.accountId ?? '' });
  grant.addOIDCScope('openid profile');
  for (const resource of [params?.['resource']].flat()) if (typeof resource === 'string') grant.addResourceScope(resource, 'mcp');
  await grant.save();
  return grant;
}

async function mint(provider: Provider, person: string, wish: TokenWish): Promise<string> {
  const clientId = wish.client ?? 'desk';
  const client = await provider.Client.find(clientId);
  if (client === undefined) throw new Error(`no client ${clientId}`);
  const grant = new provider.Grant({ accountId: person, clientId });
  grant.addResourceScope(wish.audience, wish.scope ?? 'mcp');
  const scope = wish.scope ?? 'mcp';
  const server = { ...resourceServer(wish), identifier: () => wish.audience };
  const token = new provider.AccessToken({ accountId: person, client, gty: 'authorization_code', grantId: await grant.save(), scope, expiresWithSession: false, resourceServer: server, extra: { uid: `uid-${person}` } } as unknown as ConstructorParameters<typeof provider.AccessToken>[0]);
  return token.save();
}

/** It warns of what is meant for development, which this is. */
export function quietly<T>(act: () => T): T {
  const { warn, info } = console;
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  try {
    return act();
  } finally {
    Object.assign(console, { warn, info });
  }
}
