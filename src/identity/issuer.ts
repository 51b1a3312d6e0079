/**
 * An issuer as it describes itself: discovered when it is first needed (OpenID Connect Discovery, else
 * RFC 8414), never in the way of starting, and asked again after a pause when it could not be reached.
 */
import type { JWTVerifyGetKey } from 'jose';
import * as openid from 'openid-client';
import type { Clock } from '../stores/store.ts';
import type { Fetch } from './fetch.ts';
import { createIssuerKeys, IssuerUnavailable } from './issuer-keys.ts';
import { clockToleranceSeconds } from './claims.ts';

export interface IssuerSettings {
  readonly issuer: string;
  /** Instead of the discovered address. */
  readonly jwksUri?: URL;
  /** The client of the browser login or of introspection. */
  readonly client?: { readonly clientId: string; readonly clientSecret?: string };
}

export interface Issuer {
  readonly issuer: string;
  /** @throws IssuerUnavailable */
  configuration(): Promise<openid.Configuration>;
  /** A key resolver for jose. @throws IssuerUnavailable when the keys would be needed and cannot be read */
  readonly key: JWTVerifyGetKey;
}

const askAgainAfterMs = 5_000;

export function createIssuer(settings: IssuerSettings, fetch: Fetch, now: Clock): Issuer {
  const configuration = retryable(() => discover(settings, fetch), now);
  return {
    issuer: settings.issuer,
    configuration,
    key: createIssuerKeys(async () => settings.jwksUri ?? jwksUriOf(await configuration()), fetch, now),
  };
}

async function discover(settings: IssuerSettings, fetch: Fetch): Promise<openid.Configuration> {
  const server = new URL(settings.issuer);
  const { clientId, clientSecret } = settings.client ?? { clientId: 'elicitgate' };
  const metadata = { [openid.clockTolerance]: clockToleranceSeconds, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
  const execute = server.protocol === 'http:' ? [openid.allowInsecureRequests] : [];
  const attempt = (algorithm: 'oidc' | 'oauth2') =>
    openid.discovery(server, clientId, metadata, clientAuth(clientSecret), { algorithm, execute, [openid.customFetch]: (url, init) => fetch(url, init) });
  try {
    return await attempt('oidc');
  } catch (error) {
    // Only an issuer that answered may be one that describes itself at the other place.
    if (!(error instanceof openid.ClientError) || isSilence(error)) throw error;
    return attempt('oauth2');
  }
}

/** Whether an error of openid-client means that nobody answered in time. */
export function isSilence(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof openid.ClientError && (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT'));
}

/** In the header (RFC 6749 §2.3.1), which is the default, unless the issuer takes the secret in the body only. */
function clientAuth(clientSecret: string | undefined): openid.ClientAuth {
  if (clientSecret === undefined) return openid.None();
  const [inHeader, inBody] = [openid.ClientSecretBasic(clientSecret), openid.ClientSecretPost(clientSecret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = supported.includes('client_secret_basic') ? inHeader : inBody;
    authenticate(server, client, body, headers);
  };
}

function jwksUriOf(configuration: openid.Configuration): URL {
  const uri = configuration.serverMetadata().jwks_uri;
  if (uri === undefined) throw new IssuerUnavailable('the issuer names no keys (jwks_uri)');
  return new URL(uri);
}

/** One attempt at a time; a success stays, a failure is repeated after a pause. */
function retryable<T>(attempt: () => Promise<T>, now: Clock): () => Promise<T> {
  let running: Promise<T> | undefined;
  let failedAt = -Infinity;
  return async () => {
    if (running === undefined && now() - failedAt < askAgainAfterMs) throw new IssuerUnavailable('the issuer could not be asked a moment ago');
    running ??= attempt();
    try {
      return await running;
    } catch (cause) {
      running = undefined;
      failedAt = now();
      throw new IssuerUnavailable('the issuer cannot be asked', { cause });
    }
  };
}
