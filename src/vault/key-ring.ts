/**
 * Sealing: AES-256-GCM under keys derived from the ring's keys by HKDF-SHA-256 (RFC 5869), one per
 * purpose, so that what was sealed for one purpose never opens for another. The ring's first key seals,
 * all open. Sealed bytes: version (1), key id (8), nonce (12), ciphertext, tag (16).
 *
 * The additional data is the identity of what is sealed, as a list of strings, length-prefixed, so that
 * no two lists give the same bytes. Callers compute it anew on every opening, never from the sealed bytes.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

export type Purpose = 'secret' | 'record' | 'session' | 'csrf' | 'client-key' | 'request-state' | 'reply';

export interface KeyRing {
  seal(purpose: Purpose, identity: readonly string[], plaintext: Uint8Array): Buffer;
  /** The plaintext; `undefined` when no key of the ring opens these bytes under this identity. */
  open(purpose: Purpose, identity: readonly string[], sealed: Uint8Array): Buffer | undefined;
  /** Whether the first key sealed it, as far as the bytes say. */
  isNewest(sealed: Uint8Array): boolean;
  /** 32 bytes for one purpose from each key of the ring, the first key's first: the same in every replica. */
  derive(purpose: Purpose): readonly Buffer[];
}

const version = 1;
const keyIdLength = 8;
const nonceLength = 12;
const tagLength = 16;
const headLength = 1 + keyIdLength + nonceLength;

interface RingKey {
  readonly id: Buffer;
  derive(purpose: Purpose): Buffer;
}

/** @param keys 32 random bytes each, at least one; the first seals */
export function createKeyRing(keys: readonly Buffer[]): KeyRing {
  const ring = keys.map(ringKey);
  const first = ring[0];
  if (first === undefined) throw new Error('a key ring needs a key');
  return {
    isNewest: (sealed) => sealed[0] === version && first.id.equals(sealed.subarray(1, 1 + keyIdLength)),
    seal(purpose, identity, plaintext) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', first.derive(purpose), nonce, { authTagLength: tagLength });
      cipher.setAAD(lengthPrefixed(identity));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([Buffer.of(version), first.id, nonce, body, cipher.getAuthTag()]);
    },
    open(purpose, identity, sealed) {
      if (sealed.length < headLength + tagLength || sealed[0] !== version) return undefined;
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
      const id = bytes.subarray(1, 1 + keyIdLength);
      const key = ring.find((candidate) => candidate.id.equals(id));
      if (key === undefined) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key.derive(purpose), bytes.subarray(1 + keyIdLength, headLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(lengthPrefixed(identity));
      decipher.setAuthTag(bytes.subarray(-tagLength));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(headLength, -tagLength)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
    derive: (purpose) => ring.map((key) => key.derive(purpose)),
  };
}

function ringKey(key: Buffer): RingKey {
  const derived = new Map<Purpose, Buffer>();
  return {
    id: createHash('sha256').update('elicitgate key id').update(key).digest().subarray(0, keyIdLength),
    derive(purpose) {
      const known = derived.get(purpose);
      if (known !== undefined) return known;
      const fresh = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `elicitgate/1/${purpose}`, 32));
      derived.set(purpose, fresh);
      return fresh;
    },
  };
}

/** Each string as its byte length (4, big-endian) and its UTF-16 code units: UTF-8 has one form for all lone surrogates. */
export function lengthPrefixed(parts: readonly string[]): Buffer {
  const buffers: Buffer[] = [];
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf16le');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    buffers.push(length, bytes);
  }
  return Buffer.concat(buffers);
}

/** An unguessable name of 256 bits for what must not be guessed, in base64url. */
export function randomId(): string {
  return randomBytes(32).toString('base64url');
}
