import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'redis';
import { UnavailableError } from '../../src/errors.ts';
import { openRedisStore } from '../../src/stores/redis/redis.ts';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';
import { describeStore } from './suite.ts';

const skip = skipWithout('redis-server', findRedis());

describe('on a real Redis', { skip }, () => {
  let server: DatabaseServer;
  let namespace = 0;
  before(async () => { server = await startRedis([]); });
  after(() => server.close());

  describeStore('Redis', async (now) => {
    namespace += 1;
    const open = async () => (await openRedisStore({ url: server.url, namespace: `n${namespace}` }, now)).store;
    return { store: await open(), other: open, cleanUp: () => undefined };
  });

  test('a user with few rights can do all that is needed; a wrong password and a setting that the server cannot keep are refused, and what a crash would take is told', async (t) => {
    const own = await startRedis();
    t.after(() => own.close());
    // The server goes before its last client does.
    const admin = await createClient({ url: own.url }).on('error', () => undefined).connect();
    t.after(() => { admin.destroy(); });
    const rights = '~elicitgate:* &elicitgate:* +get +mget +set +del +zadd +zrem +zrange +zrangebyscore +eval +evalsha +publish +subscribe +unsubscribe +ping +info +config|get +select +hello +auth';
    await admin.sendCommand(['ACL', 'SETUSER', 'gate', 'on', '>pw', ...rights.split(' ')]);
    const { store, warnings } = await openRedisStore({ url: own.url, user: 'gate', password: 'pw', namespace: 'd' }, Date.now);
    assert.deepEqual(warnings, []);
    await store.put('a/b', Uint8Array.of(7), 60_000);
    assert.deepEqual((await store.list('a/')).map(({ key }) => key), ['a/b']);
    assert.deepEqual(await store.take('a/b'), Uint8Array.of(7));
    await store.publish('news');
    await store.ping();
    await store.close();
    await assert.rejects(openRedisStore({ url: own.url, user: 'gate', password: 'no', namespace: 'd' }, Date.now), new UnavailableError('the Redis store failed: it refuses the password'));
    for (const [name, value] of [['appendonly', 'no'], ['maxmemory-policy', 'allkeys-lru']] as const) await admin.sendCommand(['CONFIG', 'SET', name, value]);
    const careless = await openRedisStore({ url: own.url, namespace: 'd' }, Date.now);
    assert.match(careless.warnings[0] ?? '', /^Redis keeps nothing on disk: /);
    assert.match(careless.warnings[1] ?? '', /maxmemory-policy allkeys-lru/);
    await careless.store.close();
    await assert.rejects(openRedisStore({ url: own.url, namespace: 'd', waitAof: true }, Date.now), /waitAof needs a Redis with appendonly yes/);
  });
});
