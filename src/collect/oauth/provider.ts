/**
 * Which third party a credential means, as it describes itself now: found by its issuer, named endpoint by
 * endpoint in the file, or named by the upstream. What was found is kept for a while; a failure is not
 * repeated at once.
 */
import { LRUCache } from 'lru-cache';
import type { OauthCredential } from '../../config/config.ts';
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import type { Clock } from '../../stores/store.ts';
import { discoverResource, type ProtectedResource } from './protected-resource.ts';
import { fetchServerMetadata, unfit, type ProviderFault, type ServerMetadata } from './server-metadata.ts';

/** A credential of kind oauth where it is asked for. */
export interface Account {
  readonly config: OauthCredential;
  /** With `discover: upstream`: the upstream that names the third party. */
  readonly upstreamUrl: URL | undefined;
}

export interface Provider {
  readonly metadata: ServerMetadata;
  /** What the tokens are for (RFC 8707), where it is said. */
  readonly resource?: string;
  /** Scopes to ask for when nobody asks for certain ones. */
  readonly scopes: readonly string[];
  /** It calls itself by no issuer that the file knows. */
  readonly isNameless: boolean;
}

export interface Providers {
  /** @param issuer the one of a grant or of a journey under way, which what was discovered since does not change */
  find(account: Account, issuer?: string): Promise<Result<Provider, ProviderFault>>;
}

const keptMs = 600_000;
const askAgainAfterMs = 5_000;

export function createProviders(fetch: Fetch, now: Clock): Providers {
  const keep = { max: 1_000, ttl: keptMs, ttlResolution: 0, perf: { now } };
  const servers = new LRUCache<string, Promise<Result<ServerMetadata, ProviderFault>>>(keep);
  const resources = new LRUCache<string, Promise<Result<ProtectedResource, ProviderFault>>>(keep);
  const serverOf = (issuer: string) => remember(servers, issuer, () => fetchServerMetadata(issuer, fetch));

  async function ofUpstream({ config }: Account, upstream: URL, issuer: string | undefined): Promise<Result<Provider, ProviderFault>> {
    const found = await remember(resources, upstream.href, () => discoverResource(upstream, fetch));
    if (!found.ok) return found;
    const metadata = await serverOf(issuer ?? found.value.issuer);
    if (!metadata.ok) return metadata;
    // MCP 2025-11-25, basic/authorization, "Authorization Code Protection": without this nobody is sent there.
    if (metadata.value.code_challenge_methods_supported?.includes('S256') !== true) return unfit('it does not say that it supports PKCE with S256');
    const { resource, scopes } = found.value;
    return ok({ metadata: metadata.value, resource: config.resource?.href ?? resource, scopes: config.scopes.length > 0 ? config.scopes : scopes, isNameless: false });
  }

  return {
    async find(account, issuer) {
      const { config, upstreamUrl } = account;
      if (upstreamUrl !== undefined) return ofUpstream(account, upstreamUrl, issuer);
      const named = namedServer(config);
      const metadata = named === undefined ? await discovered(config, serverOf) : ok(named);
      if (!metadata.ok) return metadata;
      const { resource, scopes } = config;
      return ok({ metadata: metadata.value, scopes, isNameless: config.issuer === undefined, ...(resource === undefined ? {} : { resource: resource.href }) });
    },
  };
}

async function discovered({ issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint }: OauthCredential, serverOf: (issuer: string) => Promise<Result<ServerMetadata, ProviderFault>>) {
  if (issuer === undefined) return unfit('the file names neither its issuer nor its endpoints');
  const found = await serverOf(issuer);
  if (!found.ok) return found;
  return ok({
    ...found.value,
    authorization_endpoint: authorizationEndpoint?.href ?? found.value.authorization_endpoint,
    token_endpoint: tokenEndpoint?.href ?? found.value.token_endpoint,
    ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint.href }),
  });
}

/** Endpoints that stand in the file need no discovery. Its issuer is then only what its answers may call themselves. */
function namedServer({ issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint }: OauthCredential): ServerMetadata | undefined {
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return undefined;
  return {
    issuer: issuer ?? authorizationEndpoint.origin,
    authorization_endpoint: authorizationEndpoint.href,
    token_endpoint: tokenEndpoint.href,
    ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint.href }),
  };
}

/** One attempt at a time; a success stays for a while, a failure for a moment. */
function remember<T>(cache: LRUCache<string, Promise<Result<T, ProviderFault>>>, key: string, attempt: () => Promise<Result<T, ProviderFault>>): Promise<Result<T, ProviderFault>> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const fresh = attempt()
    .catch((): Result<T, ProviderFault> => err({ reason: 'unreachable', what: 'it cannot be asked' }))
    .then((result) => {
      if (!result.ok) cache.set(key, Promise.resolve(result), { ttl: askAgainAfterMs });
      return result;
    });
  cache.set(key, fresh);
  return fresh;
}
