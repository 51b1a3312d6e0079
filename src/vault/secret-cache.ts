/**
 * Opened secrets in this process' memory, for a while. What another process changes is forgotten as soon as
 * the store tells of it; when it cannot tell, the time is over soon. Messages name the record that changed,
 * by its key in the store, and so nobody's name.
 */
import { LRUCache } from 'lru-cache';
import type { Clock, Store } from '../stores/store.ts';
import { randomId } from './key-ring.ts';

export interface SecretCache<Slot, T> {
  get(slot: Slot): T | undefined;
  /** The same without counting as a use. */
  peek(slot: Slot): T | undefined;
  set(slot: Slot, secret: T): void;
  delete(slot: Slot): void;
  /** Lets the other processes forget it. */
  tell(slot: Slot): void;
}

/** What a slot is called here, and in the store. */
export interface SlotNames<Slot> {
  readonly here: (slot: Slot) => string;
  readonly inStore: (slot: Slot) => string;
}

const cachedSecrets = 10_000;
const changedChannel = 'secret';

/**
 * @param keepForMs 0 keeps nothing
 * @param changed is called when another process changed something: what is being read right now may be from before that
 */
export function createSecretCache<Slot, T>(store: Store, names: SlotNames<Slot>, keepForMs: number, now: Clock, changed: () => void): SecretCache<Slot, T> {
  // A ttl of 0 would mean "for ever" to the cache.
  const cache = keepForMs > 0 ? new LRUCache<string, { readonly secret: T; readonly recordKey: string }>({ max: cachedSecrets, ttl: keepForMs, ttlResolution: 0, perf: { now } }) : undefined;
  const self = randomId();
  store.subscribe(changedChannel, (message) => {
    const [sender, recordKey] = message?.split(' ') ?? [];
    if (sender === self) return;
    changed();
    if (message === undefined) cache?.clear();
    else for (const [at, kept] of [...(cache?.entries() ?? [])]) if (kept.recordKey === recordKey) cache?.delete(at);
  });
  return {
    get: (slot) => cache?.get(names.here(slot))?.secret,
    peek: (slot) => cache?.peek(names.here(slot))?.secret,
    set: (slot, secret) => void cache?.set(names.here(slot), { secret, recordKey: names.inStore(slot) }),
    delete: (slot) => void cache?.delete(names.here(slot)),
    tell(slot) {
      store.publish(changedChannel, `${self} ${names.inStore(slot)}`).catch(() => undefined);
    },
  };
}
