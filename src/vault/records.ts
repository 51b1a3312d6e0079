/**
 * Sealed records: the only way in which anything that matters is stored. A record is found by its whole
 * identity (lists of strings, hashed into the store's key), sealed under it, and opened only under it, so
 * a writer in the database can neither move a record to another person nor invent one. A record that is
 * there but does not open is not "absent": it throws UnavailableError and the call fails closed.
 */
import { createHash } from 'node:crypto';
import { UnavailableError } from '../errors.ts';
import type { Store } from '../stores/store.ts';
import { lengthPrefixed, type KeyRing, type Purpose } from './key-ring.ts';

/** The owner's part and the rest; records of one owner are listed together. */
export interface RecordId {
  readonly owner: readonly string[];
  readonly item: readonly string[];
}

export interface Held<T> {
  readonly value: T;
  /** Where and what exactly stands in the store, for `replace`. */
  readonly key: string;
  readonly sealed: Uint8Array;
}

export interface Records<T> {
  /** Where it stands in the store. */
  keyOf(id: RecordId): string;
  get(id: RecordId): Promise<Held<T> | undefined>;
  put(id: RecordId, value: T, ttlMs?: number): Promise<void>;
  create(id: RecordId, value: T, ttlMs?: number): Promise<boolean>;
  /** Writes only when the record is still what was read; says whether it wrote. */
  replace(held: Held<T>, value: T, ttlMs?: number): Promise<boolean>;
  take(id: RecordId): Promise<T | undefined>;
  delete(id: RecordId): Promise<void>;
  listOf(owner: readonly string[]): Promise<readonly Held<T>[]>;
  /** Reads and removes one of the listed records in one move. */
  takeHeld(held: Held<T>): Promise<T | undefined>;
}

/**
 * @param kind the record's kind: part of its key and of its identity
 * @param namespace the installation's name, part of the identity too
 */
export function createRecords<T>(store: Store, ring: KeyRing, namespace: string, kind: string, purpose: Purpose = 'record'): Records<T> {
  const identity = (key: string): readonly string[] => [namespace, key];
  const seal = (key: string, value: T): Buffer => ring.seal(purpose, identity(key), Buffer.from(JSON.stringify(value)));
  function open(key: string, sealed: Uint8Array): T {
    const plaintext = ring.open(purpose, identity(key), sealed);
    if (plaintext === undefined) throw new UnavailableError(`a ${kind} record does not open: it was sealed with another key, moved or damaged`);
    // Sealed by this code under its own keys: the authentication tag is the check of its shape.
    return JSON.parse(plaintext.toString()) as T;
  }
  const keyOf = (id: RecordId): string => `${kind}/${digest(id.owner)}/${digest(id.item)}`;
  const held = (key: string, sealed: Uint8Array): Held<T> => ({ key, sealed, value: open(key, sealed) });

  return {
    keyOf,
    async get(id) {
      const key = keyOf(id);
      const sealed = await store.get(key);
      return sealed === undefined ? undefined : held(key, sealed);
    },
    async put(id, value, ttlMs) {
      const key = keyOf(id);
      await store.put(key, seal(key, value), ttlMs);
    },
    async create(id, value, ttlMs) {
      const key = keyOf(id);
      return store.putIfAbsent(key, seal(key, value), ttlMs);
    },
    async replace(present, value, ttlMs) {
      return store.compareAndSet(present.key, present.sealed, seal(present.key, value), ttlMs);
    },
    async take(id) {
      const key = keyOf(id);
      const sealed = await store.take(key);
      return sealed === undefined ? undefined : open(key, sealed);
    },
    async delete(id) {
      await store.delete(keyOf(id));
    },
    async listOf(owner) {
      const rows = await store.list(`${kind}/${digest(owner)}/`);
      return rows.map((row) => held(row.key, row.value));
    },
    async takeHeld(present) {
      const sealed = await store.take(present.key);
      return sealed === undefined ? undefined : open(present.key, sealed);
    },
  };
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(lengthPrefixed(parts)).digest('base64url');
}
