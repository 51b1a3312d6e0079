/**
 * Locks from two atomic moves, the same on every store: a lock is a record that bears its holder's mark.
 * It is let go by writing it over as expired, which only succeeds while the mark still stands there.
 */
import { randomBytes } from 'node:crypto';
import type { Store } from './store.ts';

export function createLock({ putIfAbsent, compareAndSet }: Pick<Store, 'putIfAbsent' | 'compareAndSet'>): Store['lock'] {
  return async (key, ttlMs) => {
    const at = `lock/${key}`;
    const mark = randomBytes(16);
    if (!(await putIfAbsent(at, mark, ttlMs))) return undefined;
    return async () => {
      await compareAndSet(at, mark, new Uint8Array(), 0);
    };
  };
}
