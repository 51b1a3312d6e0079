/** The identity station as the file wants it: how callers are known, how browsers are, and how people log in and out. */
import type { Config } from '../config/config.ts';
import { err, ok, UnavailableError } from '../errors.ts';
import type { Log } from '../operate/log.ts';
import type { Clock, Store } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import { createTokenIdentity } from './access-token.ts';
import { createAssertionIdentity } from './assertion.ts';
import { createBrowserSessions, type BrowserSessions } from './browser-session.ts';
import type { IdentifyCaller } from './caller.ts';
import type { Fetch } from './fetch.ts';
import { cookieRules } from './cookies.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { createLocalIdentity } from './local.ts';
import { createLogin, type Login } from './login.ts';
import { createProxyHeaderIdentity } from './proxy-headers.ts';
import type { IdentifyVisitor } from './visitor.ts';

type Ways = Pick<Config['identity'], 'oauth' | 'jwtHeader' | 'proxyHeaders' | 'local'>;
type Oauth = NonNullable<Ways['oauth']>;

/** Login with a session of ours; absent where a proxy or the machine says who is there. */
export interface BrowserLogin {
  readonly login: Login;
  readonly sessions: BrowserSessions;
}

export interface Identity {
  readonly caller: IdentifyCaller;
  readonly visitor: IdentifyVisitor;
  readonly browserLogin?: BrowserLogin;
  /** Where the proxy in front logs people out. */
  readonly logoutUrl?: string;
  /** What protected-resource metadata says; absent where clients need no token. */
  readonly metadata?: { readonly issuer: string; readonly scopes: readonly string[] };
}

export interface IdentityParts {
  readonly config: Config;
  readonly store: Store;
  readonly ring: KeyRing;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly now: Clock;
  /** `{publicUrl}…/auth/callback` */
  readonly redirectUri: string;
}

export function createIdentity(parts: IdentityParts): Identity {
  const { identity } = parts.config;
  const browsers: Ways = identity.pages ?? identity;
  const { oauth } = identity;
  return {
    caller: callerBy(parts, identity),
    ...visitorBy(parts, browsers),
    ...(oauth === undefined ? {} : { metadata: { issuer: oauth.issuer, scopes: advertisedScopes(oauth) } }),
  };
}

/** Origins that the file names for identity: they may be private, because the operator chose them. */
export function identityOrigins(config: Config): string[] {
  const ways = [config.identity, config.identity.pages ?? {}];
  const urls = ways.flatMap((way: Ways) => [way.oauth?.issuer, way.oauth?.jwksUri?.href, way.jwtHeader?.issuer, way.jwtHeader?.jwksUri?.href]);
  return urls.flatMap((url) => (url === undefined ? [] : [new URL(url).origin]));
}

/** Some issuers write a scope otherwise in a token than in the request for it. */
function advertisedScopes({ advertiseScopes, requiredScopes }: Oauth): readonly string[] {
  return advertiseScopes.length > 0 ? advertiseScopes : requiredScopes;
}

function callerBy(parts: IdentityParts, ways: Ways): IdentifyCaller {
  const { config, log, now } = parts;
  if (ways.oauth !== undefined) {
    const { oauth } = ways;
    const client = oauth.introspection;
    const issuer = createIssuer({ issuer: oauth.issuer, ...(oauth.jwksUri === undefined ? {} : { jwksUri: oauth.jwksUri }), ...(client === undefined ? {} : { client }) }, parts.fetch, now);
    return createTokenIdentity(
      { subjectClaim: oauth.subjectClaim, requiredScopes: oauth.requiredScopes, advertisedScopes: advertisedScopes(oauth), isIntrospected: client !== undefined },
      issuer,
      log,
      now,
    );
  }
  if (ways.jwtHeader !== undefined) {
    const identify = createAssertionIdentity(ways.jwtHeader, assertionIssuer(parts, ways.jwtHeader), log, now);
    return ({ raw }) => identify(raw);
  }
  if (ways.proxyHeaders !== undefined) {
    const identify = createProxyHeaderIdentity(ways.proxyHeaders, config.server.trustedProxies);
    return ({ raw }) => identify(raw);
  }
  const identifyLocal = localIdentity(ways);
  return ({ raw }) => identifyLocal(raw.headers);
}

function visitorBy(parts: IdentityParts, ways: Ways): Pick<Identity, 'visitor' | 'browserLogin' | 'logoutUrl'> {
  const { config, log, now } = parts;
  if (ways.oauth !== undefined) return visitorByLogin(parts, ways.oauth);
  if (ways.jwtHeader !== undefined) {
    const identify = createAssertionIdentity(ways.jwtHeader, assertionIssuer(parts, ways.jwtHeader), log, now);
    return { visitor: async (request) => known(await identify(request.raw)) };
  }
  if (ways.proxyHeaders !== undefined) {
    const { logoutUrl, claims } = ways.proxyHeaders;
    // A browser is no client of MCP's, and names none.
    const ofPerson = Object.fromEntries(Object.entries(claims).filter(([claim]) => claim !== 'client_id'));
    const identify = createProxyHeaderIdentity({ ...ways.proxyHeaders, claims: ofPerson }, config.server.trustedProxies);
    return { visitor: async (request) => Promise.resolve(known(identify(request.raw))), ...(logoutUrl === undefined ? {} : { logoutUrl }) };
  }
  const identifyLocal = localIdentity(ways);
  return {
    visitor: async (request) => {
      const visitor = identifyLocal(request.headers);
      return Promise.resolve(visitor.ok ? ok({ principal: visitor.value, session: '' }) : err('not-local'));
    },
  };
}

function visitorByLogin(parts: IdentityParts, oauth: Oauth): Pick<Identity, 'visitor' | 'browserLogin'> {
  const { config, store, ring, now } = parts;
  const { namespace } = config.vault;
  const { sessionName } = cookieRules(config.server.publicUrl);
  const sessions = createBrowserSessions(store, ring, namespace, now);
  const issuer = loginIssuer(parts, oauth);
  const login = createLogin({ scopes: oauth.login?.scopes ?? [], subjectClaim: oauth.subjectClaim, redirectUri: parts.redirectUri }, issuer, store, ring, namespace, parts.log);
  return {
    browserLogin: { login, sessions },
    async visitor(request) {
      const cookie = request.cookies[sessionName];
      try {
        const principal = cookie === undefined ? undefined : await sessions.find(cookie);
        return cookie === undefined || principal === undefined ? err('login') : ok({ principal, session: cookie });
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        return err('unavailable');
      }
    },
  };
}

function loginIssuer(parts: IdentityParts, oauth: Oauth): Issuer {
  const { login } = oauth;
  if (login === undefined) throw new Error('the pages need identity.oauth.login');
  const client = { clientId: login.clientId, ...(login.clientSecret === undefined ? {} : { clientSecret: login.clientSecret }) };
  return createIssuer({ issuer: oauth.issuer, client }, parts.fetch, parts.now);
}

function assertionIssuer(parts: IdentityParts, { issuer, jwksUri }: NonNullable<Ways['jwtHeader']>): Issuer {
  return createIssuer({ issuer, ...(jwksUri === undefined ? {} : { jwksUri }) }, parts.fetch, parts.now);
}

function localIdentity({ local }: Ways) {
  if (local === undefined) throw new Error('the file names no identity');
  return createLocalIdentity(local.user);
}

/** A person whom something in front of us vouches for at each request has no session of ours. */
function known(visitor: Awaited<ReturnType<IdentifyCaller>>) {
  if (visitor.ok) return ok({ principal: visitor.value, session: '' });
  return err(visitor.error.reason === 'identity-unavailable' ? ('unavailable' as const) : ('not-known' as const));
}
