/**
 * Records in this process only, gone when it ends: for development and tests. Keeps copies, so that no
 * caller changes what is stored, and drops what has expired.
 */
import { createChannels } from './channels.ts';
import type { Clock, Store, StoredRecord } from './store.ts';

const sweepEveryMs = 60_000;

export function createMemoryStore(now: Clock): Store {
  const records = new Map<string, { readonly value: Uint8Array; readonly expiresAt: number }>();
  const channels = createChannels();
  const sweep = setInterval(() => {
    const time = now();
    for (const [key, record] of records) if (record.expiresAt <= time) records.delete(key);
  }, sweepEveryMs).unref();

  function live(key: string): Uint8Array | undefined {
    const record = records.get(key);
    return record !== undefined && record.expiresAt > now() ? record.value : undefined;
  }
  function write(key: string, value: Uint8Array, ttlMs?: number): void {
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
      records.delete(key);
    },
    async list(prefix) {
      const found: StoredRecord[] = [];
      for (const key of records.keys()) {
        const value = key.startsWith(prefix) ? live(key) : undefined;
        if (value !== undefined) found.push({ key, value });
      }
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async publish(channel) {
      channels.publish(channel);
    },
    subscribe: channels.subscribe,
    async ping() {},
    async close() {
      clearInterval(sweep);
      records.clear();
    },
  };
}
