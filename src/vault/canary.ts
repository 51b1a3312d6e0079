/**
 * The canary: a record that only this installation's keys open. It is opened before anything is served,
 * so that a wrong or missing key is an error at start and not a row of strange questions to people, and
 * no key is ever made up silently over existing data.
 */
import type { Store } from '../stores/store.ts';
import type { KeyRing } from './key-ring.ts';

const key = 'canary';
const word = Buffer.from('elicitgate');

export type CanaryFault = 'wrong-key' | 'missing-canary';

/** `undefined` when the keys fit the store, or the store is new and now bears their mark. */
export async function checkCanary(store: Store, ring: KeyRing, namespace: string): Promise<CanaryFault | undefined> {
  const identity = [namespace, key];
  const present = await store.get(key);
  if (present === undefined) {
    const others = (await store.list('')).filter((record) => record.key.includes('/'));
    if (others.length > 0) return 'missing-canary';
    await store.putIfAbsent(key, ring.seal('record', identity, word));
  }
  const sealed = present ?? (await store.get(key));
  const opened = sealed === undefined ? undefined : ring.open('record', identity, sealed);
  return opened !== undefined && opened.equals(word) ? undefined : 'wrong-key';
}
