/** A database writer with the real engine's own commands: a secret that is moved to another person, or swapped, opens for nobody (A20). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { createClient, RESP_TYPES } from 'redis';
import { UnavailableError } from '../../src/errors.ts';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { openRedisStore } from '../../src/stores/redis/redis.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createVault, type SecretSlot } from '../../src/vault/secrets.ts';
import { skipWithout } from '../kit/database-server.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';

const time = Date.UTC(2026, 11, 1);
const slotOf = (subject: string): SecretSlot => ({ issuer: 'https://id.example.com', subject, upstream: 'main', credential: 'github' });
const subjects = ['ada', 'ben', 'eve'];

/** Swaps what ada and ben gave, and gives ada's row to eve; all fail closed, and none is asked anew. */
async function opensForNobody(store: Store, strike: () => Promise<unknown>): Promise<void> {
  const vault = createVault(store, createKeyRing([Buffer.alloc(32, 1)]), 'default', { cacheForMs: 0, deleteUnusedAfterMs: 86_400_000 }, () => time);
  for (const subject of subjects) await vault.keep(slotOf(subject), { fields: { token: subject }, shape: 's', destination: 'd', storedAt: time, lastUsedAt: time, clients: [] });
  assert.ok(await vault.find(slotOf('ada'), 's', 'd'));
  await strike();
  for (const subject of subjects) await assert.rejects(vault.find(slotOf(subject), 's', 'd'), UnavailableError, subject);
}

test('rows that are moved by SQL open for nobody (A20)', { skip: skipWithout('postgresql', findPostgres()), timeout: 30_000 }, async (t) => {
  const server = await startPostgres(['fsync=off']);
  t.after(() => server.close());
  const store = await openPostgresStore({ url: server.url, namespace: 'default' }, () => time);
  t.after(() => store.close());
  await opensForNobody(store, async () => {
    const writer = new Client(server.url);
    await writer.connect();
    // Each row gets what the next one held.
    const moved = await writer.query(`WITH secrets AS (SELECT key, value, row_number() OVER (ORDER BY key) AS nth FROM elicitgate_records WHERE key LIKE 'secret/%')
      UPDATE elicitgate_records AS r SET value = b.value FROM secrets a JOIN secrets b ON b.nth = a.nth % 3 + 1 WHERE r.key = a.key`);
    await writer.end();
    assert.equal(moved.rowCount, 3);
  });
});

test('values that are moved by Redis commands open for nobody (A20)', { skip: skipWithout('redis-server', findRedis()), timeout: 30_000 }, async (t) => {
  const server = await startRedis([]);
  t.after(() => server.close());
  const { store } = await openRedisStore({ url: server.url, namespace: 'default' }, () => time);
  t.after(() => store.close());
  await opensForNobody(store, async () => {
    const writer = await createClient({ url: server.url }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).on('error', () => undefined).connect();
    const keys = (await writer.keys('elicitgate:default:*')).map(String).filter((name) => name.includes('secret/')).sort();
    assert.equal(keys.length, 3);
    const values = await Promise.all(keys.map((name) => writer.get(name)));
    for (const [nth, name] of keys.entries()) await writer.set(name, values[(nth + 1) % 3] ?? assert.fail(name), { KEEPTTL: true });
    writer.destroy();
  });
});
