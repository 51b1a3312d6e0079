import { after, before, describe } from 'node:test';
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
});
