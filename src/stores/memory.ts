/**
 * Records in this process only, gone when it ends: for development and tests. Takes and hands out copies,
 * so that no caller changes what is stored, and drops what has expired.
 */
import { UnavailableError } from '../errors.ts';
import { createChannels } from './channels.ts';
import { createLocks } from './locks.ts';
import type { Clock, Store, StoredRecord } from './store.ts';

const sweepEveryMs = 60_000;

export function createMemoryStore(now: Clock): Store {
  const records = new Map<string, { readonly value: Uint8Array; readonly expiresAt: number }>();
  const lock = createLocks(now);
  const channels = createChannels();
  let isClosed = false;
  const sweep = setInterval(() => {
    const time = now();
    for (const [key, record] of records) if (record.expiresAt <= time) records.delete(key);
  }, sweepEveryMs).unref();

  function mustBeOpen(): void {
    if (isClosed) throw new UnavailableError('the memory store is closed');
  }
  function live(key: string): Uint8Array | undefined {
    mustBeOpen();
    const record = records.get(key);
    return record !== undefined && record.expiresAt > now() ? Uint8Array.from(record.value) : undefined;
  }
  function write(key: string, value: Uint8Array, ttlMs?: number): void {
    mustBeOpen();
    records.set(key, { value: Uint8Array.from(value), expiresAt: ttlMs === undefined ? Infinity : now() + ttlMs });
  }

  return {
    async get(key) {
      return live(key);
    },
    async put(key, value, ttlMs) {
      write(key, value, ttlMs);
    },
    async putIfAbsent(key, value, ttlMs) {
      if (live(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async compareAndSet(key, expected, value, ttlMs) {
      const present = live(key);
      if (present === undefined || Buffer.compare(present, expected) !== 0) return false;
      write(key, value, ttlMs);
      return true;
    },
    async take(key) {
      const value = live(key);
      records.delete(key);
      return value;
    },
    async delete(key) {
      mustBeOpen();
      records.delete(key);
    },
    async list(prefix) {
      mustBeOpen();
      const found: StoredRecord[] = [];
      for (const key of records.keys()) {
        const value = key.startsWith(prefix) ? live(key) : undefined;
        if (value !== undefined) found.push({ key, value });
      }
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async lock(key, ttlMs) {
      mustBeOpen();
      return lock(key, ttlMs);
    },
    async publish(channel) {
      channels.publish(channel);
    },
    subscribe: channels.subscribe,
    async ping() {
      mustBeOpen();
    },
    async close() {
      isClosed = true;
      clearInterval(sweep);
      records.clear();
    },
  };
}
