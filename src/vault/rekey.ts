/**
 * Seals every record again under the first key, while others serve from the same store. Each record is one
 * compare-and-set that keeps its lifetime: whoever changes it meanwhile wins, and it is looked at again.
 * What is done is known by its seal, so a run that was stopped is simply run again. A record that no key
 * opens is left as it is, and told.
 */
import type { Clock, Store, StoredRecord } from '../stores/store.ts';
import type { KeyRing, Purpose } from './key-ring.ts';

export interface RekeyReport {
  /** Records that are there. */
  readonly records: number;
  /** Sealed again by this run. */
  readonly resealed: number;
  /** By the kind of record, how many no key of the file opens. */
  readonly unopened: Readonly<Record<string, number>>;
  /** Sealed with an older key again and again: somebody still serves with that key first. */
  readonly stillOld: number;
}

const pageSize = 500;
const mostPasses = 3;
const attempts = 20;
const purposes: readonly Purpose[] = ['record', 'secret'];
/** Marks without content; nothing in them is sealed. */
const isUnsealed = (key: string): boolean => key === 'ping' || key.startsWith('lock/');

type Outcome = 'newest' | 'resealed' | 'unopened' | 'gone';

/** @param progress gets the number of records that were looked at so far */
export async function rekey(store: Store, ring: KeyRing, namespace: string, now: Clock, progress: (records: number) => void): Promise<RekeyReport> {
  let resealed = 0;
  for (let pass = 1; ; pass += 1) {
    const counts = await onePass(store, ring, namespace, now, progress);
    resealed += counts.resealed;
    // Records that were written behind the walk's back are met by the next one.
    if (counts.resealed > 0 && pass < mostPasses) continue;
    const stillOld = counts.resealed > 0 ? (await onePass(store, ring, namespace, now, () => undefined)).resealed : 0;
    return { records: counts.records, resealed: resealed + stillOld, unopened: counts.unopened, stillOld };
  }
}

async function onePass(store: Store, ring: KeyRing, namespace: string, now: Clock, progress: (records: number) => void) {
  const unopened: Record<string, number> = {};
  let [records, resealed, after] = [0, 0, ''];
  for (;;) {
    const page = await store.list('', { after, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return { records, resealed, unopened };
    after = last.key;
    const sealed = page.filter(({ key }) => !isUnsealed(key));
    for (const record of sealed) {
      const outcome = await reseal(store, ring, namespace, now, record);
      if (outcome === 'resealed') resealed += 1;
      if (outcome === 'unopened') unopened[kindOf(record.key)] = (unopened[kindOf(record.key)] ?? 0) + 1;
    }
    records += sealed.length;
    progress(records);
  }
}

async function reseal(store: Store, ring: KeyRing, namespace: string, now: Clock, listed: StoredRecord): Promise<Outcome> {
  const { key } = listed;
  const identity = [namespace, key];
  let record: StoredRecord | undefined = listed;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const present: StoredRecord | undefined = record;
    if (present === undefined) return 'gone';
    if (ring.isNewest(present.value)) return 'newest';
    const again = sealAgain(ring, identity, present.value);
    if (again === undefined) return 'unopened';
    const ttlMs = present.expiresAt === undefined ? undefined : Math.max(1, present.expiresAt - now());
    if (await store.compareAndSet(key, present.value, again, ttlMs)) return 'resealed';
    record = (await store.list(key, { after: '', limit: 1 })).find((found) => found.key === key);
  }
  // Whoever writes it so often has not been given the new key; the next pass meets it again.
  return 'resealed';
}

function sealAgain(ring: KeyRing, identity: readonly string[], sealed: Uint8Array): Buffer | undefined {
  for (const purpose of purposes) {
    const plaintext = ring.open(purpose, identity, sealed);
    if (plaintext !== undefined) return ring.seal(purpose, identity, plaintext);
  }
  return undefined;
}

function kindOf(key: string): string {
  return key.split('/', 1)[0] ?? key;
}
