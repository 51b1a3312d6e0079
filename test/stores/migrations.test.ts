/** How the tables in PostgreSQL come to be: by one process at a time, by a command, or not at all. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Client } from 'pg';
import { UnavailableError } from '../../src/errors.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { migratePostgres, openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { keyCredential } from '../kit/gateway.ts';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { runElicitgate } from '../kit/program.ts';

describe('the tables in PostgreSQL', { skip: skipWithout('postgresql', findPostgres()), timeout: 60_000 }, () => {
  let server: DatabaseServer;
  let prefix = '';
  let count = 0;
  before(async () => { server = await startPostgres(['fsync=off']); });
  after(() => server.close());
  beforeEach(() => { prefix = `t${(count += 1)}_`; });

  const settings = () => ({ url: server.url, namespace: 'd', prefix, pool: 1 });

  async function administer(...commands: string[]): Promise<void> {
    const client = new Client(server.url);
    await client.connect();
    try {
      for (const command of commands) await client.query(command);
    } finally {
      await client.end();
    }
  }

  test('are made once by eight processes that start at the same time', async () => {
    const steps = await Promise.all(Array.from({ length: 8 }, () => migratePostgres(settings())));
    assert.deepEqual(steps.sort(), [0, 0, 0, 0, 0, 0, 0, 1]);
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(settings(), Date.now)));
    await stores[0]?.put('a', Uint8Array.of(1));
    assert.deepEqual(await stores[7]?.get('a'), Uint8Array.of(1));
    await Promise.all(stores.map((store) => store.close()));
  });

  test('are not made with migrate: false; a user who may only read and write rows serves once somebody else has made them', async () => {
    await administer("CREATE ROLE rows LOGIN", 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const few = { ...settings(), user: 'rows' };
    await assert.rejects(openPostgresStore({ ...few, migrate: false }, Date.now), new UnavailableError('its tables are missing: run elicitgate migrate with this file'));
    await assert.rejects(openPostgresStore(few, Date.now), new UnavailableError('the PostgreSQL store failed: the user lacks the rights'));
    assert.equal(await migratePostgres(settings()), 1);
    await administer(...['records', 'messages', 'version'].map((table) => `GRANT SELECT, INSERT, UPDATE, DELETE ON ${prefix}${table} TO rows`));
    const store = await openPostgresStore({ ...few, migrate: false }, Date.now);
    await store.put('a', Uint8Array.of(1));
    await store.publish('news');
    assert.deepEqual(await store.take('a'), Uint8Array.of(1));
    await store.close();
  });

  test('of a newer version are left alone', async () => {
    await migratePostgres(settings());
    await administer(`UPDATE ${prefix}version SET version = 1000`);
    for (const open of [() => openPostgresStore(settings(), Date.now), () => migratePostgres(settings())]) {
      await assert.rejects(open, new UnavailableError('its tables were made by a newer version of Elicitgate'));
    }
  });

  test('are made by "elicitgate migrate", which says what it did, also when there is nothing to do', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'elicitgate-migrate-'));
    t.after(() => { rmSync(folder, { recursive: true, force: true }); });
    const file = join(folder, 'elicitgate.yaml');
    writeFileSync(file, `version: 1
identity: { local: { user: ada } }
vault: { store: { url: "${server.url}", prefix: ${prefix} }, migrate: false, keys: ["${generateKey()}"] }
${keyCredential}
upstreams: { main: { url: "http://127.0.0.1:9/mcp" } }
`);
    const refused = await runElicitgate(['serve', '-c', file]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /run elicitgate migrate/);
    const [first, again] = [await runElicitgate(['migrate', '-c', file]), await runElicitgate(['migrate', '-c', file])];
    assert.deepEqual([first.code, again.code], [0, 0]);
    assert.notEqual(first.stdout, again.stdout);
    const store = await openPostgresStore({ ...settings(), migrate: false }, Date.now);
    await store.close();
  });
});
