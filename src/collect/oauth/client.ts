/**
 * Who this installation is at a third party: the client that the file names, or, where the upstream named
 * the third party, one that it introduces itself: by its metadata document (OAuth Client ID Metadata
 * Document), or else by registration (RFC 7591), kept sealed for each issuer and done anew when the issuer
 * or our redirect address changes.
 */
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import * as z from 'zod';
import type { Clock, Store } from '../../stores/store.ts';
import type { KeyRing } from '../../vault/key-ring.ts';
import { createRecords } from '../../vault/records.ts';
import type { OauthClient } from '../../vault/secrets.ts';
import { unfit, type ProviderFault, type ServerMetadata } from './server-metadata.ts';

/** This installation, as it describes itself. */
export interface Installation {
  readonly name: string;
  /** `{publicUrl}…/oauth/callback` */
  readonly redirectUri: string;
  /** Where the documents stand; absent where no third party could read them. */
  readonly documents?: { readonly signed: string; readonly plain: string; readonly jwks: string };
}

export interface ClientRegistry {
  /** The client under which we are known at this issuer. */
  introduce(provider: ServerMetadata): Promise<Result<OauthClient, ProviderFault>>;
  /** It is not known there any more. */
  forget(issuer: string): Promise<void>;
}

interface Registration {
  readonly client: OauthClient;
  readonly redirectUri: string;
  readonly expiresAt?: number;
}

/** Registered anew after this time, so that a registration which the third party has lost blocks nobody for ever. */
const keptMs = 30 * 86_400_000;

const registered = z.object({
  client_id: z.string().min(1).max(2_048),
  client_secret: z.string().min(1).max(4_096).optional(),
  client_secret_expires_at: z.number().optional().catch(undefined),
  token_endpoint_auth_method: z.string().optional(),
});

export function createClientRegistry(installation: Installation, store: Store, ring: KeyRing, namespace: string, fetch: Fetch, now: Clock): ClientRegistry {
  const records = createRecords<Registration>(store, ring, namespace, 'oauth-client');
  const recordId = (issuer: string) => ({ owner: ['issuer'], item: [issuer] });
  const underway = new Map<string, Promise<Result<OauthClient, ProviderFault>>>();

  async function registeredClient(provider: ServerMetadata, endpoint: string): Promise<Result<OauthClient, ProviderFault>> {
    const known = (await records.get(recordId(provider.issuer)))?.value;
    if (known?.redirectUri === installation.redirectUri && (known.expiresAt ?? Infinity) > now()) return ok(known.client);
    const answer = await register(installation, provider, endpoint, fetch);
    if (!answer.ok) return answer;
    await records.put(recordId(provider.issuer), { ...answer.value, redirectUri: installation.redirectUri }, keptMs);
    return ok(answer.value.client);
  }

  return {
    async introduce(provider) {
      const own = describedClient(installation, provider);
      if (own !== undefined) return ok(own);
      const { issuer, registration_endpoint: endpoint } = provider;
      if (endpoint === undefined) return unfit('it takes neither a client metadata document nor registrations; clientId must be in the file');
      const known = underway.get(issuer);
      if (known !== undefined) return known;
      const fresh = registeredClient(provider, endpoint).finally(() => underway.delete(issuer));
      underway.set(issuer, fresh);
      return fresh;
    },
    forget: (issuer) => records.delete(recordId(issuer)),
  };
}

/** Our document is our client id, where the third party reads such documents and can reach ours. */
function describedClient({ documents }: Installation, provider: ServerMetadata): OauthClient | undefined {
  if (documents === undefined || provider.client_id_metadata_document_supported !== true) return undefined;
  const methods = methodsOf(provider);
  if (methods.includes('private_key_jwt')) return { clientId: documents.signed, method: 'private_key_jwt' };
  return methods.includes('none') ? { clientId: documents.plain, method: 'none' } : undefined;
}

/** RFC 8414 §2: without a list it is the header. */
export function methodsOf(provider: ServerMetadata): readonly string[] {
  return provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
}

/** The document at a client id (draft-ietf-oauth-client-id-metadata-document) and the request of a registration. */
export function clientMetadata(installation: Installation, method: OauthClient['method']): Readonly<Record<string, unknown>> {
  return {
    client_name: installation.name,
    application_type: 'web',
    redirect_uris: [installation.redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(method === 'private_key_jwt' && installation.documents !== undefined ? { jwks_uri: installation.documents.jwks, token_endpoint_auth_signing_alg: 'ES256' } : {}),
  };
}

const registrable = ['client_secret_basic', 'client_secret_post', 'none'] as const;

async function register(installation: Installation, provider: ServerMetadata, endpoint: string, fetch: Fetch): Promise<Result<Omit<Registration, 'redirectUri'>, ProviderFault>> {
  const wanted = registrable.find((method) => methodsOf(provider).includes(method));
  if (wanted === undefined) return unfit('it takes no way of client authentication that a registered client could use');
  const answer = await post(endpoint, clientMetadata(installation, wanted), fetch);
  if (answer === 'unreachable') return err({ reason: 'unreachable', what: 'the registration was not answered' });
  const read = registered.safeParse(answer.json);
  if ((answer.status !== 201 && answer.status !== 200) || !read.success) return unfit(`it refused to register this installation (${answer.status})`);
  const { client_id: clientId, client_secret: clientSecret, client_secret_expires_at: expires = 0, token_endpoint_auth_method: given = wanted } = read.data;
  // What it registered counts, not what was asked for (RFC 7591 §3.2.1).
  const method = clientSecret === undefined ? 'none' : registrable.find((one) => one === given);
  if (method === undefined) return unfit(`it registered this installation with ${given}`);
  const client: OauthClient = { clientId, method, ...(clientSecret === undefined || method === 'none' ? {} : { clientSecret }) };
  return ok({ client, ...(expires > 0 ? { expiresAt: expires * 1_000 } : {}) });
}

async function post(endpoint: string, body: unknown, fetch: Fetch): Promise<{ readonly status: number; readonly json: unknown } | 'unreachable'> {
  try {
    const answer = await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.status >= 500 || answer.status === 429) return 'unreachable';
    return { status: answer.status, json: parsed(text) };
  } catch {
    return 'unreachable';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
