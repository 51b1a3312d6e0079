import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnavailableError } from '../../src/errors.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import { checkCanary } from '../../src/vault/canary.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createRecords } from '../../src/vault/records.ts';

const [firstKey, secondKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const newStore = () => createMemoryStore(Date.now);

test('a new store gets the mark of its keys, and knows them from then on', async () => {
  const store = newStore();
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
});

test('with a wrong key nothing runs (A25)', async () => {
  const store = newStore();
  await checkCanary(store, createKeyRing([firstKey]), 'default');
  assert.equal(await checkCanary(store, createKeyRing([secondKey]), 'default'), 'wrong-key');
  // The wrong key has not put its own mark there.
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
});

test('a new key in front of the old one is fine; the new one alone is not, because the old mark is still there', async () => {
  const store = newStore();
  await checkCanary(store, createKeyRing([firstKey]), 'default');
  assert.equal(await checkCanary(store, createKeyRing([secondKey, firstKey]), 'default'), undefined);
  assert.equal(await checkCanary(store, createKeyRing([secondKey]), 'default'), 'wrong-key');
});

test('records without a mark are a damaged store, and no key makes itself at home there (A25)', async () => {
  const store = newStore();
  const ring = createKeyRing([firstKey]);
  await checkCanary(store, ring, 'default');
  await createRecords<string>(store, ring, 'default', 'secret').put({ owner: ['ada'], item: ['github'] }, 'x');
  await store.delete('canary');
  for (const key of [firstKey, secondKey]) assert.equal(await checkCanary(store, createKeyRing([key]), 'default'), 'missing-canary');
  assert.equal(await store.get('canary'), undefined);
});

test('the trace of a health check does not make a new store a damaged one', async () => {
  const store = newStore();
  await store.put('ping', new Uint8Array(1));
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
});

test('a mark that was put there by hand, or comes from another installation, does not open (A20)', async () => {
  const store = newStore();
  const ring = createKeyRing([firstKey]);
  await store.put('canary', Buffer.from('elicitgate'));
  assert.equal(await checkCanary(store, ring, 'default'), 'wrong-key');
  const other = newStore();
  await checkCanary(other, ring, 'another');
  await store.put('canary', (await other.get('canary')) ?? new Uint8Array());
  assert.equal(await checkCanary(store, ring, 'default'), 'wrong-key');
});

test('of two processes that start at once on a new store with different keys only one may run', async () => {
  const store = newStore();
  // The slow one has seen an empty store; by the time it would put its mark there, the other runs.
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => { goOn = resolve; });
  const slowStore = { ...store, list: async (prefix: string) => store.list(prefix).then(async (rows) => gate.then(() => rows)) };
  const slow = checkCanary(slowStore, createKeyRing([secondKey]), 'default');
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
  goOn();
  assert.equal(await slow, 'wrong-key');
  assert.equal(await checkCanary(store, createKeyRing([firstKey]), 'default'), undefined);
});

test('a store that cannot be read is said to be that, not a new one', async () => {
  const store = newStore();
  await store.close();
  await assert.rejects(checkCanary(store, createKeyRing([firstKey]), 'default'), UnavailableError);
});
