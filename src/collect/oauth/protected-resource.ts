/**
 * An upstream that is itself protected by OAuth says where its tokens come from: the answer to a request
 * without a token, then its metadata (RFC 9728; MCP 2025-11-25, basic/authorization). The metadata must be
 * that of this very upstream, or a token for it would be asked for in another's name.
 */
import * as z from 'zod';
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import { fetchJson, isSafeAddress, unfit, type ProviderFault } from './server-metadata.ts';

export interface ProtectedResource {
  /** What goes into `resource` (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  /** Scopes to ask for when nobody says which. */
  readonly scopes: readonly string[];
}

const resourceMetadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()).min(1),
  scopes_supported: z.array(z.string()).optional().catch(undefined),
});

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

export async function discoverResource(upstream: URL, fetch: Fetch): Promise<Result<ProtectedResource, ProviderFault>> {
  const challenge = await challengeOf(upstream, fetch);
  if (!challenge.ok) return challenge;
  const { resourceMetadataUrl, scope } = challenge.value;
  if (resourceMetadataUrl !== undefined && !isSafeAddress(resourceMetadataUrl)) return unfit('it names no https address for its metadata');
  for (const place of resourceMetadataUrl === undefined ? resourcePlaces(upstream) : [resourceMetadataUrl]) {
    const found = await fetchJson(place, fetch);
    if (found === 'absent') continue;
    if (found === 'unreachable') return err({ reason: 'unreachable', what: 'the metadata of the upstream cannot be read' });
    return readResource(found.json, upstream, scope);
  }
  return unfit('the upstream publishes no metadata (RFC 9728)');
}

function readResource(value: unknown, upstream: URL, scope: string | undefined): Result<ProtectedResource, ProviderFault> {
  const read = resourceMetadata.safeParse(value);
  if (!read.success) return unfit('the metadata of the upstream is not usable');
  const { resource, authorization_servers: [issuer = ''], scopes_supported: supported = [] } = read.data;
  if (!isResourceOf(resource, upstream)) return unfit('the metadata of the upstream names another resource');
  return ok({ resource, issuer, scopes: scope === undefined ? supported : scopesIn(scope) });
}

/** The upstream itself, or what it is a part of: many servers name their origin alone. */
function isResourceOf(resource: string, upstream: URL): boolean {
  const url = URL.parse(resource);
  if (url === null || url.origin !== upstream.origin) return false;
  const path = url.pathname.replace(/\/$/, '');
  return upstream.pathname === path || upstream.pathname.startsWith(`${path}/`);
}

function resourcePlaces({ origin, pathname }: URL): readonly string[] {
  const base = `${origin}/.well-known/oauth-protected-resource`;
  return [...new Set([`${base}${pathname.replace(/\/$/, '')}`, base])];
}

interface Challenge {
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
  readonly error?: string;
}

async function challengeOf(upstream: URL, fetch: Fetch): Promise<Result<Challenge, ProviderFault>> {
  try {
    const answer = await fetch(upstream.href, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body: ping });
    await answer.body?.cancel();
    return ok(answer.status === 401 ? readChallenge(answer.headers.get('www-authenticate') ?? '') : {});
  } catch {
    return err({ reason: 'unreachable', what: 'the upstream cannot be asked' });
  }
}

/** What a `Bearer` challenge says (RFC 6750 §3, RFC 9728 §5.1). @param header one `WWW-Authenticate` */
export function readChallenge(header: string): Challenge {
  const bearer = /(?:^|,)\s*bearer\s+(.*)$/i.exec(header)?.[1] ?? '';
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain] of bearer.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  const [resourceMetadataUrl, scope, error] = ['resource_metadata', 'scope', 'error'].map((name) => found.get(name));
  return { ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }), ...(scope === undefined ? {} : { scope }), ...(error === undefined ? {} : { error }) };
}

/** @param text scopes with spaces between them (RFC 6749 §3.3), or commas as some send them */
export function scopesIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((scope) => scope !== ''))];
}
