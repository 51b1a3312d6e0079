import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { checkCanary } from '../../src/vault/canary.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createRecords } from '../../src/vault/records.ts';
import { rekey } from '../../src/vault/rekey.ts';

const [oldKey, newKey, foreignKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const [before, both, after] = [createKeyRing([oldKey]), createKeyRing([newKey, oldKey]), createKeyRing([newKey])];
const time = Date.UTC(2026, 11, 1);
const now = (): number => time;
const run = (store: Store, ring = both) => rekey(store, ring, 'default', now, () => undefined);
const person = (name: string) => ({ owner: [name], item: ['key'] });

async function filled(count: number): Promise<Store> {
  const store = createMemoryStore(now);
  await checkCanary(store, before, 'default');
  const secrets = createRecords<string>(store, before, 'default', 'secret', 'secret');
  for (let nth = 0; nth < count; nth += 1) await secrets.put(person(`p${nth}`), `sk-${nth}`, nth % 2 === 0 ? undefined : 60_000);
  await createRecords<string>(store, before, 'default', 'ticket').put(person('t'), 'ticket');
  await store.put('ping', new Uint8Array(1));
  await store.lock('refresh', 1_000);
  return store;
}

test('every record opens with the new key alone afterwards, with its own lifetime, and marks that are not sealed are left alone (B12)', async () => {
  const store = await filled(1_203);
  const lifetimes = (await store.list('')).map(({ key, expiresAt }) => [key, expiresAt]);
  const seen: number[] = [];
  assert.deepEqual(await rekey(store, both, 'default', now, (records) => seen.push(records)), { records: 1_205, resealed: 1_205, unopened: {}, stillOld: 0 });
  assert.deepEqual((await store.list('')).map(({ key, expiresAt }) => [key, expiresAt]), lifetimes);
  assert.equal(seen.at(-1), 1_205);
  assert.equal(await checkCanary(store, after, 'default'), undefined);
  const secrets = createRecords<string>(store, after, 'default', 'secret', 'secret');
  for (const nth of [0, 1, 500, 1_202]) assert.equal((await secrets.get(person(`p${nth}`)))?.value, `sk-${nth}`);
  assert.equal((await createRecords<string>(store, after, 'default', 'ticket').get(person('t')))?.value, 'ticket');
});

test('a run that was stopped is run again and seals only what is left (B12)', async () => {
  const store = await filled(20);
  let writes = 0;
  const stopped: Store = { ...store, compareAndSet: (...move) => ((writes += 1) > 8 ? Promise.reject(new Error('killed')) : store.compareAndSet(...move)) };
  await assert.rejects(run(stopped), /killed/);
  assert.deepEqual(await run(store), { records: 22, resealed: 14, unopened: {}, stillOld: 0 });
  assert.deepEqual(await run(store), { records: 22, resealed: 0, unopened: {}, stillOld: 0 });
});

test('a record that somebody changes meanwhile keeps the change, and one that is taken stays away (B12)', async () => {
  const store = await filled(2);
  const serving = createRecords<string>(store, both, 'default', 'secret', 'secret');
  let isFirst = true;
  const raced: Store = {
    ...store,
    async compareAndSet(...move) {
      if (isFirst) {
        isFirst = false;
        await serving.put(person('p0'), 'changed');
        await serving.take(person('p1'));
      }
      return store.compareAndSet(...move);
    },
  };
  await run(raced);
  assert.equal((await serving.get(person('p0')))?.value, 'changed');
  assert.equal(await serving.get(person('p1')), undefined);
});

test('what no key opens is counted by its kind and left as it is', async () => {
  const store = await filled(1);
  const foreign = createRecords<string>(store, createKeyRing([foreignKey]), 'default', 'secret', 'secret');
  await foreign.put(person('x'), 'theirs');
  await store.put('secret/moved/here', (await store.list('ticket/'))[0]?.value ?? new Uint8Array());
  const report = await run(store);
  assert.deepEqual(report.unopened, { secret: 2 });
  assert.equal((await foreign.get(person('x')))?.value, 'theirs');
});

test('a replica that still seals with the older key is told', async () => {
  const store = await filled(1);
  const old = createRecords<string>(store, before, 'default', 'secret', 'secret');
  const raced: Store = {
    ...store,
    async compareAndSet(...move) {
      const outcome = await store.compareAndSet(...move);
      await old.put(person('busy'), 'again');
      return outcome;
    },
  };
  assert.ok((await run(raced)).stillOld > 0);
});
