/** Locks inside one process, for stores that no other process shares. */
import type { Clock, Store } from './store.ts';

export function createLocks(now: Clock): Store['lock'] {
  const locks = new Map<string, { readonly expiresAt: number }>();
  return async (key, ttlMs) => {
    const held = locks.get(key);
    if (held !== undefined && held.expiresAt > now()) return undefined;
    const own = { expiresAt: now() + ttlMs };
    locks.set(key, own);
    return async () => {
      if (locks.get(key) === own) locks.delete(key);
    };
  };
}
