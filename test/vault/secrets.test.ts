import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { UnavailableError } from '../../src/errors.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createVault, type Secret, type SecretSlot, type Vault, type VaultSettings } from '../../src/vault/secrets.ts';

const minute = 60_000;
const day = 86_400_000;
const ring = createKeyRing([Buffer.alloc(32, 1)]);
const shape = 'apiKey(token)';
const destination = 'https://api.example.com';
const slot: SecretSlot = { issuer: 'https://id.example.com', subject: 'ada', upstream: 'main', credential: 'github' };

let time: number;
let store: Store;
/** Keys of the store as they were read and written, in order. */
let moves: string[];

beforeEach(() => {
  time = Date.UTC(2026, 10, 30);
  moves = [];
  const memory = createMemoryStore(() => time);
  const noted = <A extends [string, ...unknown[]], R>(name: string, move: (...args: A) => R) => (...args: A): R => {
    moves.push(name);
    return move(...args);
  };
  store = { ...memory, get: noted('get', memory.get), put: noted('put', memory.put), compareAndSet: noted('compareAndSet', memory.compareAndSet) };
});

function openVault(settings: Partial<VaultSettings> = {}): Vault {
  return createVault(store, ring, 'default', { cacheForMs: 30_000, deleteUnusedAfterMs: 365 * day, ...settings }, () => time);
}

function secret(token: string, more: Partial<Secret> = {}): Secret {
  return { fields: { token }, shape, destination, storedAt: time, lastUsedAt: time, clients: [], ...more };
}

const tokenOf = async (vault: Vault, at: SecretSlot = slot): Promise<string | undefined> => (await vault.find(at, shape, destination))?.fields['token'];
const cachedTokenOf = (vault: Vault): string | undefined => vault.cached(slot, shape, destination)?.fields['token'];

test('what a person gave is found for her, for this credential and upstream, and for nobody and nothing else', async () => {
  const vault = openVault();
  await vault.keep(slot, secret('hers'));
  assert.equal(await tokenOf(vault), 'hers');
  const { upstream: _upstream, ...shared } = slot;
  for (const other of [{ ...slot, issuer: 'https://id.example.org' }, { ...slot, subject: 'eve' }, { ...slot, upstream: 'other' }, { ...slot, credential: 'jira' }, shared, { ...shared, upstream: 'shared' }]) {
    assert.equal(await tokenOf(vault, other), undefined, JSON.stringify(other));
    assert.equal(vault.cached(other, shape, destination), undefined);
  }
});

test('a shared secret is not the one of an upstream that is called shared', async () => {
  const vault = openVault();
  const { upstream: _upstream, ...shared } = slot;
  await vault.keep(shared, secret('for all'));
  assert.equal(await tokenOf(vault, shared), 'for all');
  assert.equal(await tokenOf(vault, { ...shared, upstream: 'shared' }), undefined);
});

test('a secret is not there for another destination or another shape than it was given for', async () => {
  for (const vault of [openVault(), openVault({ cacheForMs: 0 })]) {
    await vault.keep(slot, secret('hers'));
    for (const [otherShape, otherDestination] of [['apiKey(token,user)', destination], [shape, 'https://evil.example.com'], [shape, `${destination} https://evil.example.com`], [shape, '']] as const) {
      assert.equal(await vault.find(slot, otherShape, otherDestination), undefined);
      assert.equal(vault.cached(slot, otherShape, otherDestination), undefined);
    }
    assert.equal(await tokenOf(vault), 'hers');
  }
});

test('a secret is there until its last millisecond, also in memory and for longer caches', async () => {
  const vault = openVault({ cacheForMs: day });
  await vault.keep(slot, secret('short', { expiresAt: time + 5_000 }));
  time += 4_999;
  assert.equal(cachedTokenOf(vault), 'short');
  assert.equal(await tokenOf(vault), 'short');
  time += 1;
  assert.equal(cachedTokenOf(vault), undefined);
  assert.equal(await tokenOf(vault), undefined);
});

test('an ordinary call reads from memory for cacheFor, and then from the store again', async () => {
  const vault = openVault({ cacheForMs: 30_000 });
  await vault.keep(slot, secret('hers'));
  time += 29_999;
  assert.equal(cachedTokenOf(vault), 'hers');
  time += 2;
  assert.equal(cachedTokenOf(vault), undefined);
  assert.equal(await tokenOf(vault), 'hers');
  assert.equal(cachedTokenOf(vault), 'hers');
  assert.deepEqual(moves, ['put', 'get']);
});

test('with cacheFor 0s nothing stays in memory', async () => {
  const vault = openVault({ cacheForMs: 0 });
  await vault.keep(slot, secret('hers'));
  assert.equal(cachedTokenOf(vault), undefined);
  assert.equal(await tokenOf(vault), 'hers');
  assert.equal(cachedTokenOf(vault), undefined);
  vault.noteUse(slot, secret('hers', { lastUsedAt: time - day }));
  await setImmediate();
  assert.equal(cachedTokenOf(vault), undefined);
});

test('a store that fails is never "not there", and what could not be stored is not used', async () => {
  const vault = openVault({ cacheForMs: 30_000 });
  await vault.keep(slot, secret('hers'));
  await store.close();
  assert.equal(cachedTokenOf(vault), 'hers');
  await assert.rejects(vault.find(slot, shape, destination), UnavailableError);
  await assert.rejects(vault.find({ ...slot, subject: 'eve' }, shape, destination), UnavailableError);
  await assert.rejects(vault.keep(slot, secret('newer')), UnavailableError);
  assert.equal(cachedTokenOf(vault), 'hers');
});

test('what nobody uses for deleteUnusedAfter is deleted, and what is used now and then is kept', async () => {
  const vault = openVault({ deleteUnusedAfterMs: 10 * day, cacheForMs: 0 });
  await vault.keep(slot, secret('used'));
  for (let week = 0; week < 4; week += 1) {
    time += 7 * day;
    const found = await vault.find(slot, shape, destination);
    assert.equal(found?.fields['token'], 'used');
    vault.noteUse(slot, found);
    await setImmediate();
  }
  time += 10 * day;
  assert.equal(await tokenOf(vault), undefined);
  assert.deepEqual(await store.list(''), []);
});

test('a short deleteUnusedAfter is renewed in time by a secret that is in use', async () => {
  const vault = openVault({ deleteUnusedAfterMs: 2 * minute });
  await vault.keep(slot, secret('used'));
  for (let call = 0; call < 10; call += 1) {
    time += minute;
    const found = await vault.find(slot, shape, destination);
    assert.equal(found?.fields['token'], 'used', `call ${call}`);
    vault.noteUse(slot, found);
    await setImmediate();
  }
});

test('what has expired is kept for 30 days, so that her pages can say when, and no use renews that', async () => {
  const vault = openVault({ deleteUnusedAfterMs: 365 * day });
  await vault.keep(slot, secret('short', { expiresAt: time + 2 * day }));
  time += day;
  vault.noteUse(slot, secret('short', { lastUsedAt: time - day }));
  await setImmediate();
  time += day;
  assert.equal(await tokenOf(vault), undefined);
  assert.equal((await vault.inspect(slot))?.expiresAt, time);
  time += 30 * day;
  assert.deepEqual(await store.list(''), []);
});

test('uses are noted at most once in ten minutes, also when calls come together', async () => {
  const vault = openVault();
  await vault.keep(slot, secret('hers'));
  moves.length = 0;
  time += 10 * minute;
  await tokenOf(vault);
  for (let call = 0; call < 100; call += 1) {
    const found = vault.cached(slot, shape, destination);
    if (found !== undefined) vault.noteUse(slot, found);
  }
  await setImmediate();
  assert.deepEqual(moves, ['get', 'get', 'compareAndSet']);
});

test('noting the use of an old secret brings neither it nor a removed one back', async () => {
  const vault = openVault();
  const old = secret('old', { lastUsedAt: time - day });
  await vault.keep(slot, old);
  await vault.keep(slot, secret('new'));
  vault.noteUse(slot, old);
  assert.equal(cachedTokenOf(vault), 'new');
  await setImmediate();
  assert.equal(cachedTokenOf(vault), 'new');
  assert.equal(await tokenOf(vault), 'new');

  await vault.remove(slot);
  vault.noteUse(slot, old);
  assert.equal(cachedTokenOf(vault), undefined);
  await setImmediate();
  assert.equal(await tokenOf(vault), undefined);
});

test('a use that cannot be noted stops nothing', async () => {
  const vault = openVault();
  await vault.keep(slot, secret('hers', { lastUsedAt: time - day }));
  await store.close();
  const found = vault.cached(slot, shape, destination);
  assert.ok(found);
  vault.noteUse(slot, found);
  await setImmediate();
});

test('a secret that is replaced or removed while it is being read does not come back into memory', async () => {
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => { letGo = resolve; });
  const { get } = store;
  const vault = openVault();
  await vault.keep(slot, secret('old'));
  time += 30_001;
  store.get = async (key) => {
    const value = await get(key);
    await gate;
    return value;
  };
  const reading = vault.find(slot, shape, destination);
  await vault.keep(slot, secret('new'));
  letGo();
  await reading;
  assert.equal(cachedTokenOf(vault), 'new');
});

test('a secret that is replaced or removed while a change of the old one is acknowledged does not come back into memory', async () => {
  const newerMoves: readonly (readonly [(vault: Vault) => Promise<unknown>, string | undefined])[] = [
    [(vault) => vault.keep(slot, secret('new')), 'new'],
    [(vault) => vault.remove(slot), undefined],
  ];
  for (const [newer, expected] of newerMoves) {
    const { compareAndSet, put } = store;
    const vault = openVault();
    for (const change of [() => vault.agree(slot, 'client-1'), () => vault.keep(slot, secret('other'))]) {
      await vault.keep(slot, secret('old'));
      const written = Promise.withResolvers<undefined>();
      const acknowledged = Promise.withResolvers<undefined>();
      const slowly = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
        Object.assign(store, { compareAndSet, put });
        const outcome = await write(...args);
        written.resolve(undefined);
        await acknowledged.promise;
        return outcome;
      };
      Object.assign(store, { compareAndSet: slowly(compareAndSet), put: slowly(put) });
      const changing = change();
      await written.promise;
      await newer(vault);
      acknowledged.resolve(undefined);
      await changing;
      assert.ok([expected, undefined].includes(cachedTokenOf(vault)), cachedTokenOf(vault));
      assert.equal((await vault.find(slot, shape, destination))?.fields['token'], expected);
    }
  }
});

test('nothing in the store spells a secret, its person or its credential (A19)', async () => {
  const vault = openVault();
  await vault.keep(slot, secret('ghp_canary'));
  const rows = await store.list('');
  assert.equal(rows.length, 1);
  for (const { key, value } of rows) {
    const seen = key + Buffer.from(value).toString('latin1');
    for (const word of ['ghp_canary', 'ada', 'github', 'main', 'example.com']) assert.equal(seen.includes(word), false, word);
  }
});
