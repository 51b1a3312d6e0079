/**
 * A third party at which people have accounts: `oidc-provider` on a free loopback port, with rotating refresh
 * tokens, revocation, discovery, registration, client metadata documents and resource indicators. People log
 * in on its own pages and consent to what is asked, except for what a test withholds.
 */
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { interactionPolicy, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import { quietly } from './identity-provider.ts';
import { planted } from './planted.ts';

export interface ThirdParty {
  readonly issuer: string;
  /** What stands in the file beside `kind: oauth` for its client. */
  readonly client: string;
  /** Requests to its token, revocation and registration endpoints, in order. */
  readonly requests: readonly { readonly path: string; readonly body: URLSearchParams; readonly authorization: string | undefined; readonly text: string }[];
  /** Bodies of the token requests of one kind. */
  readonly tokenRequests: (grantType: 'authorization_code' | 'refresh_token') => readonly URLSearchParams[];
  /** The person, scopes and audience of an access token; undefined when it is not good (any more). */
  readonly check: (token: string) => Promise<Checked | undefined>;
  /** Answers the next requests to this path in its place; undefined lets it answer itself again. */
  readonly answerInstead: (path: string, answer: { readonly status: number; readonly type?: string; readonly body: string } | 'cut' | undefined) => void;
  /** Every request to its token endpoint waits for this promise. */
  readonly holdTokens: (until: Promise<void> | undefined) => void;
  /** Resolves when a request to this path has come in. */
  readonly asked: (path: string) => Promise<void>;
  /** Scopes that nobody is granted from now on. */
  readonly withhold: (scopes: readonly string[]) => void;
  /** Ends every grant: refresh tokens are `invalid_grant` from then on. */
  readonly endGrants: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Checked {
  readonly person: string;
  readonly scopes: readonly string[];
  readonly audience: string | undefined;
}

export interface ThirdPartyOptions {
  readonly accessTokenSeconds?: number;
  /** By default the issuer's host, with which browsers keep its cookies apart from those of 127.0.0.1. */
  readonly host?: string;
  /** Fetches client metadata documents. */
  readonly fetch?: typeof fetch;
  readonly with?: Partial<Configuration>;
}

const accounts: readonly string[] = ['ada', 'ben', 'ada-at-third', 'ben-at-third'];

export async function startThirdParty(options: ThirdPartyOptions = {}): Promise<ThirdParty> {
  const { host = 'localhost' } = options;
  const requests: ThirdParty['requests'][number][] = [];
  const instead = new Map<string, { readonly status: number; readonly type?: string; readonly body: string } | 'cut'>();
  const arrivals = new EventEmitter();
  const withheld = new Set<string>();
  const grants = new Set<string>();
  let held: Promise<void> | undefined;
  const server = createServer((incoming, response) => {
    void (async () => {
      let request: unknown = incoming;
      const { pathname: path } = new URL(incoming.url ?? '', 'http://third');
      if (incoming.method === 'POST' && ['/token', '/token/revocation', '/reg'].includes(path)) {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString();
        requests.push({ path, text, body: new URLSearchParams(text), authorization: incoming.headers.authorization });
        const { method, url, headers, rawHeaders, socket, httpVersion } = incoming;
        request = Object.assign(Readable.from(chunks), { method, url, headers, rawHeaders, socket, httpVersion });
      }
      arrivals.emit(path);
      if (path === '/token') await held;
      const answer = instead.get(path);
      if (answer === undefined) return provider.callback()(request as typeof incoming, response);
      if (answer === 'cut') return incoming.socket.destroy();
      return response.writeHead(answer.status, { 'content-type': answer.type ?? 'application/json' }).end(answer.body);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://${host}:${String((server.address() as AddressInfo).port)}`;
  const secret = planted(`third-party-secret-${randomBytes(8).toString('hex')}`);
  const provider = quietly(() => new Provider(issuer, configurationOf(secret, withheld, grants, options)));

  return {
    issuer,
    client: `clientId: gate, clientSecret: ${secret}`,
    requests,
    tokenRequests: (grantType) => requests.filter(({ path, body }) => path === '/token' && body.get('grant_type') === grantType).map(({ body }) => body),
    async check(token) {
      const found = await provider.AccessToken.find(token);
      const grant = found?.grantId === undefined ? undefined : await provider.Grant.find(found.grantId);
      if (found === undefined || !found.isValid || grant === undefined) return undefined;
      const audience = found.aud;
      return { person: found.accountId, scopes: [...found.scopes], audience: typeof audience === 'string' ? audience : undefined };
    },
    answerInstead: (path, answer) => {
      if (answer === undefined) instead.delete(path);
      else instead.set(path, answer);
    },
    holdTokens: (until) => { held = until; },
    asked: async (path) => { await once(arrivals, path); },
    withhold: (scopes) => {
      withheld.clear();
      for (const scope of scopes) withheld.add(scope);
    },
    async endGrants() {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const scopes = ['openid', 'offline_access', 'read', 'write', 'admin'];

function configurationOf(secret: string, withheld: ReadonlySet<string>, grants: Set<string>, { accessTokenSeconds = 3_600, fetch: fetchDocument, with: more = {} }: ThirdPartyOptions): Configuration {
  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.remove('native_client_prompt');
  return {
    clients: [{ client_id: 'gate', client_secret: secret, application_type: 'native', grant_types: ['authorization_code', 'refresh_token'], redirect_uris: ['http://127.0.0.1/oauth/callback', 'https://mcp.example.com/oauth/callback'] }],
    scopes,
    cookies: { keys: ['a key for its cookies'], names: { session: '_third', interaction: '_third_interaction', resume: '_third_resume' } },
    findAccount: (_context, id) => (accounts.includes(id) ? { accountId: id, claims: () => ({ sub: id }) } : undefined),
    loadExistingGrant: async ({ oidc }) => {
      const grant = await grantAll(oidc, withheld);
      grants.add(grant.jti);
      return grant;
    },
    interactions: { policy },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    ttl: { AccessToken: accessTokenSeconds, Grant: 86_400, IdToken: 3_600, Interaction: 3_600, Session: 86_400, RefreshToken: 86_400 },
    ...(fetchDocument === undefined ? {} : { fetch: fetchDocument }),
    ...more,
    features: {
      devInteractions: { enabled: true },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => Promise.resolve(token.clientId === client.clientId) },
      registration: { enabled: true },
      ...(fetchDocument === undefined ? {} : { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, audience) => ({ audience, scope: 'read write admin', accessTokenTTL: accessTokenSeconds, accessTokenFormat: 'opaque' as const }),
        useGrantedResource: () => true,
      },
      ...more.features,
    },
  };
}

/** Whoever logs in consents to everything that is asked for and not withheld. */
async function grantAll({ client, session, params, provider }: KoaContextWithOIDC['oidc'], withheld: ReadonlySet<string>) {
  const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' });
  const scope = params?.['scope'];
  const asked = (typeof scope === 'string' ? scope : '').split(' ').filter((scope) => scope !== '' && !withheld.has(scope)).join(' ');
  const rejected = [...withheld].join(' ');
  grant.addOIDCScope(asked);
  if (rejected !== '') grant.rejectOIDCScope(rejected);
  for (const resource of [params?.['resource']].flat()) {
    if (typeof resource !== 'string') continue;
    grant.addResourceScope(resource, asked);
    if (rejected !== '') grant.rejectResourceScope(resource, rejected);
  }
  await grant.save();
  return grant;
}
