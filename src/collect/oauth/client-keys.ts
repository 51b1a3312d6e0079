/**
 * The keys with which this installation proves itself to third parties that know it by its metadata document
 * (RFC 7523, ES256). They come from the vault's keys, one from each, so every replica has the same ones,
 * nothing is stored, and a new vault key is a new client key, published beside the old one.
 */
import { createECDH, createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { KeyRing } from '../../vault/key-ring.ts';

export interface ClientKeys {
  /** What stands at `/client-jwks.json`. */
  readonly jwks: { readonly keys: readonly JsonWebKey[] };
  /** Signs; the first of the vault's keys made it. */
  readonly current: { readonly key: KeyObject; readonly keyId: string };
}

/** Order of P-256 (FIPS 186-5). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

export async function createClientKeys(ring: KeyRing): Promise<ClientKeys> {
  const keys = await Promise.all(ring.derive('client-key').map(clientKey));
  const [current] = keys;
  if (current === undefined) throw new Error('a key ring needs a key');
  return { jwks: { keys: keys.map(({ published }) => published) }, current };
}

async function clientKey(seed: Buffer) {
  const scalar = Buffer.from(((BigInt(`0x${seed.toString('hex')}`) % (order - 1n)) + 1n).toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(scalar);
  const point = pair.getPublicKey();
  const open = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
  const keyId = await calculateJwkThumbprint(open);
  return {
    keyId,
    key: createPrivateKey({ format: 'jwk', key: { ...open, d: scalar.toString('base64url') } }),
    published: { ...open, kid: keyId, alg: 'ES256', use: 'sig' },
  };
}
