import { after, before, describe } from 'node:test';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { describeStore } from './suite.ts';

const skip = skipWithout('postgresql', findPostgres());

describe('on a real PostgreSQL', { skip }, () => {
  let server: DatabaseServer;
  let namespace = 0;
  before(async () => { server = await startPostgres(['fsync=off']); });
  after(() => server.close());

  describeStore('PostgreSQL', async (now) => {
    namespace += 1;
    const open = () => openPostgresStore({ url: server.url, namespace: `n${namespace}`, pool: 5 }, now);
    return { store: await open(), other: open, cleanUp: () => undefined };
  });
});
