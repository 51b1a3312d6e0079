/** Which clients may use what a person gave. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../src/stores/memory.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createVault, mayServe, type Secret, type SecretSlot } from '../../src/vault/secrets.ts';

const slot: SecretSlot = { issuer: 'https://id.example.com', subject: 'ada', upstream: 'main', credential: 'key' };
const now = () => Date.UTC(2026, 10, 30);
const secret: Secret = { fields: { token: 'hers' }, shape: 's', destination: 'd', storedAt: 0, lastUsedAt: 0, clients: ['desk'] };
const openVault = () => createVault(createMemoryStore(now), createKeyRing([Buffer.alloc(32, 1)]), 'default', { cacheForMs: 30_000, deleteUnusedAfterMs: 86_400_000 }, now);

test('a secret serves the clients that she agreed to, and callers whose identity knows no clients', () => {
  assert.deepEqual(['desk', 'phone', '', undefined].map((client) => mayServe(secret, client)), [true, false, false, true]);
  assert.equal(mayServe({ ...secret, clients: [] }, 'desk'), false);
});

test('of several agreements at once none is lost, and one given twice counts once', async () => {
  const vault = openVault();
  await vault.keep(slot, secret);
  const clients = ['phone', 'laptop', 'watch', 'phone', 'desk'];
  assert.deepEqual(await Promise.all(clients.map((client) => vault.agree(slot, client))), [true, true, true, true, true]);
  const after = await vault.inspect(slot);
  assert.deepEqual([after?.fields, after?.clients.toSorted()], [{ token: 'hers' }, ['desk', 'laptop', 'phone', 'watch']]);
  assert.deepEqual(vault.cached(slot, 's', 'd')?.clients.length, 4, 'the next call finds it in memory');
});

test('there is nothing to agree to where nothing is stored, and removing says whether there was something', async () => {
  const vault = openVault();
  assert.deepEqual([await vault.agree(slot, 'phone'), await vault.remove(slot), await vault.inspect(slot)], [false, false, undefined]);
  await vault.keep(slot, secret);
  assert.deepEqual([await vault.remove(slot), await vault.agree(slot, 'phone'), vault.cached(slot, 's', 'd')], [true, false, undefined]);
});

test('what the file has changed since is not usable but still there to be seen and removed', async () => {
  const vault = openVault();
  await vault.keep(slot, secret);
  assert.equal(await vault.find(slot, 'another shape', 'd'), undefined);
  assert.equal((await vault.inspect(slot))?.destination, 'd');
});
