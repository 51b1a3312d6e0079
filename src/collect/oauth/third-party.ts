/**
 * One third party, ready to be spoken to as one client of it: openid-client with our guarded way out, our
 * proof of who we are, and answers that are made regular first.
 */
import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as openid from 'openid-client';
import type { OauthCredential } from '../../config/config.ts';
import { ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import type { OauthClient } from '../../vault/secrets.ts';
import { methodsOf } from './client.ts';
import type { ClientKeys } from './client-keys.ts';
import type { Provider } from './provider.ts';
import { unfit, type ProviderFault, type ServerMetadata } from './server-metadata.ts';
import { readingTokenAnswers } from './token-answers.ts';

const timeoutSeconds = 15;

/** The client that the file names for this credential, checked before anybody is sent anywhere. */
export function clientInFile({ clientId, clientSecret, clientAuth }: OauthCredential, provider: ServerMetadata): Result<OauthClient | undefined, ProviderFault> {
  if (clientId === undefined) return ok(undefined);
  if (clientAuth?.method === 'private_key_jwt' || clientAuth?.method === 'none') return ok({ clientId, method: clientAuth.method });
  const methods = methodsOf(provider);
  if (clientSecret === undefined) {
    const isPublic = provider.token_endpoint_auth_methods_supported === undefined || methods.includes('none');
    return isPublic ? ok({ clientId, method: 'none' }) : unfit('it wants the proof of a client, and the file has neither clientSecret nor clientAuth');
  }
  const inHeader = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
  return ok({ clientId, clientSecret, method: clientAuth?.method ?? (inHeader ? 'client_secret_basic' : 'client_secret_post') });
}

/** @throws Error when the key of the file cannot be read */
export function speakTo(provider: Provider, client: OauthClient, config: OauthCredential, keys: ClientKeys, fetch: Fetch): openid.Configuration {
  const { metadata } = provider;
  const configuration = new openid.Configuration(plain(metadata), client.clientId, {}, proofOf(provider, client, config, keys));
  configuration.timeout = timeoutSeconds;
  const lenient = readingTokenAnswers(fetch, metadata.token_endpoint);
  configuration[openid.customFetch] = (url, init) => lenient(url, init);
  // Addresses were checked when they were read: plain http is on this machine only.
  openid.allowInsecureRequests(configuration);
  return configuration;
}

function plain(metadata: ServerMetadata): openid.ServerMetadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)) as unknown as openid.ServerMetadata;
}

function proofOf(provider: Provider, client: OauthClient, config: OauthCredential, keys: ClientKeys): openid.ClientAuth {
  const { clientId, clientSecret = '', method } = client;
  switch (method) {
    case 'none':
      return openid.None();
    case 'client_secret_post':
      return openid.ClientSecretPost(clientSecret);
    case 'client_secret_basic':
      return inHeader(clientId, clientSecret);
    case 'private_key_jwt':
      return config.clientAuth?.method === 'private_key_jwt' ? signing(provider, readKey(config.clientAuth.key), config.clientAuth.keyId) : signing(provider, keys.current.key, keys.current.keyId);
  }
}

/** RFC 6749 §2.3.1, encoding only what must be: many servers decode nothing. */
function inHeader(clientId: string, clientSecret: string): openid.ClientAuth {
  return (_server, _client, _body, headers) => {
    headers.set('authorization', `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`);
  };
}

function signing({ metadata, isNameless }: Provider, key: KeyObject, keyId: string | undefined): openid.ClientAuth {
  // The same object, which the two packages describe with different lists of usages.
  const privateKey = key.toCryptoKey(algorithmOf(key), false, ['sign']) as unknown as openid.PrivateKey['key'];
  return openid.PrivateKeyJwt({ key: privateKey, ...(keyId === undefined ? {} : { kid: keyId }) }, {
    [openid.modifyAssertion](_header, payload) {
      if (isNameless) payload['aud'] = metadata.token_endpoint;
    },
  });
}

/** PEM (PKCS #8) or JWK. @throws Error when it is neither, or cannot be read */
export function readKey(path: string): KeyObject {
  const text = readFileSync(path, 'utf8');
  return text.trimStart().startsWith('{') ? createPrivateKey({ format: 'jwk', key: JSON.parse(text) as JsonWebKey }) : createPrivateKey(text);
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) {
  switch (asymmetricKeyType) {
    case 'rsa':
      return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    case 'ec':
      return { name: 'ECDSA', namedCurve: curves[asymmetricKeyDetails?.namedCurve ?? ''] ?? 'P-256' };
    case 'ed25519':
      return { name: 'Ed25519' };
    default:
      throw new Error('the private key of a client must be RSA, EC (P-256, P-384, P-521) or Ed25519');
  }
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
