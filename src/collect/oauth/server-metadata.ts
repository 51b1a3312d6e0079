/**
 * How an authorization server describes itself (RFC 8414, OpenID Connect Discovery 1.0). It must name
 * exactly the issuer that was asked for, or another server could answer in its place, and addresses to which
 * a person or a secret could go: https, or http on this machine.
 */
import * as z from 'zod';
import { isLoopbackHost } from '../../config/address.ts';
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';

/** `unreachable`: it cannot be asked now. `unfit`: what it says cannot be used, and will not be by itself. */
export type ProviderFault = { readonly reason: 'unreachable' | 'unfit'; /** For the log. */ readonly what: string };

export function unfit(what: string): { readonly ok: false; readonly error: ProviderFault } {
  return err({ reason: 'unfit', what });
}

/** Where people, codes and tokens may be sent. */
export function isSafeAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

const address = () => z.string().max(2_048).refine(isSafeAddress);
const names = () => z.array(z.string()).optional().catch(undefined);

const serverMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: address(),
  token_endpoint: address(),
  revocation_endpoint: address().optional().catch(undefined),
  registration_endpoint: address().optional().catch(undefined),
  code_challenge_methods_supported: names(),
  token_endpoint_auth_methods_supported: names(),
  id_token_signing_alg_values_supported: names(),
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
  client_id_metadata_document_supported: z.boolean().optional().catch(undefined),
});

export type ServerMetadata = Readonly<z.infer<typeof serverMetadata>>;

/** @param issuer what it must call itself, to the letter */
export function readServerMetadata(value: unknown, issuer: string): Result<ServerMetadata, string> {
  const read = serverMetadata.safeParse(value);
  if (!read.success) return err(`its metadata is not usable at ${[...new Set(read.error.issues.map(({ path }) => path.join('.')))].join(', ')}`);
  return read.data.issuer === issuer ? ok(read.data) : err('its metadata names another issuer');
}

/** Tries the places in the order of MCP 2025-11-25, basic/authorization, "Authorization Server Metadata Discovery". */
export async function fetchServerMetadata(issuer: string, fetch: Fetch): Promise<Result<ServerMetadata, ProviderFault>> {
  if (!isSafeAddress(issuer)) return unfit('its issuer is no https address');
  for (const place of metadataPlaces(issuer)) {
    const found = await fetchJson(place, fetch);
    if (found === 'absent') continue;
    if (found === 'unreachable') return err({ reason: 'unreachable', what: 'its metadata cannot be read' });
    const read = readServerMetadata(found.json, issuer);
    return read.ok ? read : unfit(read.error);
  }
  return unfit('it publishes no metadata');
}

function metadataPlaces(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map((name) => `${origin}/.well-known/${name}${path}`);
  return [...new Set([...inserted, `${origin}${path}/.well-known/openid-configuration`])];
}

/** `absent`: it answered that there is nothing. `unreachable`: it did not answer so that one could know. */
export async function fetchJson(url: string, fetch: Fetch): Promise<{ readonly json: unknown } | 'absent' | 'unreachable'> {
  let answer: Response;
  try {
    answer = await fetch(url, { headers: { accept: 'application/json' } });
  } catch {
    return 'unreachable';
  }
  try {
    // Read to the end in any case, so that its connection is free again.
    const text = await answer.text();
    if (answer.status >= 500 || answer.status === 429) return 'unreachable';
    return answer.status === 200 ? { json: JSON.parse(text) as unknown } : 'absent';
  } catch (error) {
    return error instanceof SyntaxError ? 'absent' : 'unreachable';
  }
}
