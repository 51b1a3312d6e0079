/** Redis and PostgreSQL are down, silent, resetting, full or read-only (B2), or killed during writes (B1): what needs them fails closed, the rest passes, and all comes back by itself. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createClient } from 'redis';
import { Client } from 'pg';
import { UnavailableError } from '../../src/errors.ts';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { openRedisStore } from '../../src/stores/redis/redis.ts';
import type { Store } from '../../src/stores/store.ts';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { startFaultProxy, type Fault, type FaultProxy } from '../kit/fault-proxy.ts';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';
import { assertUnavailable } from '../stores/suite.ts';

interface Database {
  readonly name: string;
  readonly skip: string | false;
  readonly start: () => Promise<DatabaseServer>;
  readonly open: (url: string) => Promise<Store>;
  /** What its administrator does to it so that it can be read and not written, and undoes. */
  readonly unwritable: readonly { readonly name: string; readonly strike: readonly string[]; readonly mend: readonly string[] }[];
  readonly administer: (url: string, commands: readonly string[]) => Promise<void>;
}

const databases: readonly Database[] = [
  {
    name: 'Redis',
    skip: skipWithout('redis-server', findRedis()),
    start: () => startRedis(),
    open: async (url) => (await openRedisStore({ url, namespace: 'default' }, Date.now)).store,
    unwritable: [
      { name: 'full', strike: ['CONFIG SET maxmemory 1'], mend: ['CONFIG SET maxmemory 0'] },
      { name: 'a read-only replica', strike: ['REPLICAOF 127.0.0.1 1'], mend: ['REPLICAOF NO ONE'] },
    ],
    async administer(url, commands) {
      const client = await createClient({ url }).connect();
      for (const command of commands) await client.sendCommand(command.split(' '));
      client.destroy();
    },
  },
  {
    name: 'PostgreSQL',
    skip: skipWithout('postgresql', findPostgres()),
    start: () => startPostgres(),
    open: (url) => openPostgresStore({ url, namespace: 'default' }, Date.now),
    unwritable: [{ name: 'read-only', strike: ['ALTER DATABASE postgres SET default_transaction_read_only = on'], mend: ['SET default_transaction_read_only = off', 'ALTER DATABASE postgres RESET default_transaction_read_only'] }],
    async administer(url, commands) {
      const client = new Client(url);
      await client.connect();
      for (const command of commands) await client.query(command);
      await client.end();
    },
  },
];

const withPort = (url: string, port: number): string => url.replace(/:\d+/, `:${port}`);

async function behindFaults(t: TestContext, database: Database): Promise<{ server: DatabaseServer; faults: FaultProxy; url: string }> {
  const server = await database.start();
  t.after(() => server.close());
  const faults = await startFaultProxy(server.port);
  t.after(() => faults.close());
  return { server, faults, url: withPort(server.url, faults.port) };
}

const file = (url: string) => `vault: { store: "${url}", keys: ["\${KEY}"], cacheFor: 0s }
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } }
  other: { kind: apiKey, title: Other, fields: [{ name: token, label: Key }], inject: { headers: { X-Other: "{token}" } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }, { tools: [other], requires: [other] }] } }`;

async function said(client: McpClient, tool: string): Promise<string> {
  const { message, text } = await client.call(tool);
  return message.result?.content?.[0]?.text ?? (message.error === undefined ? text : `error ${message.error.code}`);
}

/** Asks again while it is still coming back. */
async function untilSaid(client: McpClient, tool: string, expected: string): Promise<void> {
  while ((await said(client, tool)) !== expected);
}

/** Tries again until it succeeds; between two attempts others get their turn. */
async function untilDone(attempt: () => Promise<unknown>): Promise<void> {
  while (!(await attempt().then(() => true, () => false))) await setImmediate();
}

for (const database of databases) {
  describe(`${database.name} that`, { skip: database.skip, timeout: 90_000 }, () => {
    test('is down, silent or resetting: protected calls are 1503 and stay here, others pass, and it comes back by itself (B2)', async (t) => {
      const { faults, url } = await behindFaults(t, database);
      const gateway = await startGateway(t, { file: file(url) });
      const client = await connect(gateway.url, { capabilities: urlMode });
      await provide(client, 'paid', { token: key });
      for (const fault of ['down', 'hang', 'reset'] satisfies Fault[]) {
        await faults.set(fault);
        const arrived = gateway.upstream.requests.length;
        const since = performance.now();
        assert.equal(await said(client, 'paid'), 'error 1503', fault);
        t.diagnostic(`${fault}: refused after ${Math.round(performance.now() - since)} ms`);
        assert.equal(await said(client, 'other'), 'error 1503', fault);
        assert.equal(gateway.upstream.requests.length, arrived, fault);
        assert.equal(await said(client, 'free'), 'free', fault);
        await faults.set('none');
        const mended = performance.now();
        await untilSaid(client, 'paid', 'paid');
        t.diagnostic(`${fault}: back after ${Math.round(performance.now() - mended)} ms`);
      }
      assert.equal(gateway.proxy.log.join('').includes(key), false);
    });

    test('can be read and not written: what is stored is used, and nobody is asked with a link that cannot work (B2)', async (t) => {
      const server = await database.start();
      t.after(() => server.close());
      const gateway = await startGateway(t, { file: file(server.url) });
      const client = await connect(gateway.url, { capabilities: urlMode });
      await provide(client, 'paid', { token: key });
      for (const { name, strike, mend } of database.unwritable) {
        await database.administer(server.url, strike);
        // Settings of a session hold from its next connection on.
        if (database.name === 'PostgreSQL') await database.administer(server.url, ["SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'elicitgate'"]);
        await untilSaid(client, 'other', 'error 1503');
        await untilSaid(client, 'paid', 'paid');
        await database.administer(server.url, mend);
        if (database.name === 'PostgreSQL') await database.administer(server.url, ["SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'elicitgate'"]);
        await untilSaid(client, 'other', 'error -32042');
        t.diagnostic(name);
      }
    });

    test('could not be looked at: every move says so, none says "not there"; and whoever listened is told that something may have been missed', async (t) => {
      const { faults, url } = await behindFaults(t, database);
      const [store, other] = [await database.open(url), await database.open(withPort(url, faults.port))];
      t.after(() => Promise.all([store.close(), other.close()]));
      await store.put('a', new Uint8Array(1));
      await faults.set('down');
      await assertUnavailable(store);
      const missed = Promise.withResolvers<void>();
      const heard = Promise.withResolvers<string | undefined>();
      other.subscribe('news', (message) => { if (message === undefined) missed.resolve(); else heard.resolve(message); });
      // PostgreSQL is read again from where it was, unless that is long ago.
      await faults.set('none');
      if (database.name === 'Redis') await missed.promise;
      await untilDone(() => store.publish('news', 'hello'));
      assert.equal(await heard.promise, 'hello');
      assert.ok(await store.get('a'));
    });

    test('is killed during writes loses none that it acknowledged (B1)', async (t) => {
      const server = await database.start();
      t.after(() => server.close());
      const store = await database.open(server.url);
      t.after(() => store.close());
      const acknowledged = new Set<string>();
      for (let round = 0; round < 2; round += 1) {
        const enough = Promise.withResolvers<void>();
        const writing = Array.from({ length: 8 }, async (_, lane) => {
          for (let nth = 0; ; nth += 1) {
            const name = `${round}/${lane}/${nth}`;
            try {
              await store.put(name, Buffer.from(name));
            } catch (error) {
              assert.ok(error instanceof UnavailableError);
              return;
            }
            acknowledged.add(name);
            if (nth === 20) enough.resolve();
          }
        });
        await enough.promise;
        await server.kill();
        await Promise.all(writing);
        await server.restart();
        await untilDone(() => store.ping());
        const found = new Map((await store.list('')).map((record) => [record.key, Buffer.from(record.value).toString()]));
        for (const name of acknowledged) assert.equal(found.get(name), name);
      }
      t.diagnostic(`acknowledged writes: ${acknowledged.size}`);
    });
  });
}

describe('Redis that holds still', { skip: skipWithout('redis-server', findRedis()), timeout: 30_000 }, () => {
  test('while its connections stay open is given up, and found again when it goes on', async (t) => {
    const server = await startRedis();
    t.after(() => server.close());
    const { store } = await openRedisStore({ url: server.url, namespace: 'default' }, Date.now);
    t.after(() => store.close());
    await store.put('a', new Uint8Array(1));
    server.signal('SIGSTOP');
    await assert.rejects(store.get('a'), UnavailableError);
    server.signal('SIGCONT');
    await untilDone(() => store.ping());
    assert.ok(await store.get('a'));
  });
});
