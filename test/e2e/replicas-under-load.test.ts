/** What replicas do together while calls go on: sealing every record again, through a kill (B12), and renewing one account (B9). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { openRedisStore } from '../../src/stores/redis/redis.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createRecords } from '../../src/vault/records.ts';
import { createVault, type Secret, type SecretSlot } from '../../src/vault/secrets.ts';
import { goThrough, headingOf } from '../kit/account-setup.ts';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { key } from '../kit/gateway.ts';
import { connect, linkIn, provide, urlMode } from '../kit/mcp-client.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { runElicitgate, startElicitgate } from '../kit/program.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';
import { startReplicas } from '../kit/replicas.ts';
import { startThirdParty } from '../kit/third-party.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const databases: readonly { readonly name: string; readonly skip: string | false; readonly start: () => Promise<DatabaseServer>; readonly open: (url: string) => Promise<Store> }[] = [
  { name: 'Redis', skip: skipWithout('redis-server', findRedis()), start: () => startRedis([]), open: async (url) => (await openRedisStore({ url, namespace: 'default' }, Date.now)).store },
  { name: 'PostgreSQL', skip: skipWithout('postgresql', findPostgres()), start: () => startPostgres(['fsync=off']), open: (url) => openPostgresStore({ url, namespace: 'default' }, Date.now) },
];

const ringOf = (...keys: string[]) => createKeyRing(keys.map((text) => Buffer.from(text, 'base64')));
const box: SecretSlot = { issuer: 'local', subject: 'ada', upstream: 'main', credential: 'key' };

for (const { name, skip, start, open } of databases) {
  describe(`replicas on ${name}`, { skip, timeout: 90_000 }, () => {
    test('fail no call while every record is sealed again, which goes on after a kill and tells what it did (B12)', async (t) => {
      const database = await start();
      t.after(() => database.close());
      const [oldKey, newKey] = [generateKey(), generateKey()];
      const replicas = await startReplicas(t, { store: database.url, count: 2, keys: [newKey, oldKey], cacheFor: '0s' });
      const store = await open(database.url);
      t.after(() => store.close());
      const others = createRecords<string>(store, ringOf(oldKey), 'default', 'secret', 'secret');
      for (let nth = 0; nth < 1_100; nth += 100) await Promise.all(Array.from({ length: 100 }, (_, more) => others.put({ owner: [`p${nth + more}`], item: ['key'] }, 'sk')));
      const client = await connect(replicas.url, { capabilities: urlMode });
      await provide(client, 'paid', { token: key });
      let isOver = false;
      const said = new Map<string, number>();
      const calling = async (): Promise<void> => {
        while (!isOver) {
          const { message } = await client.call('paid');
          const text = message.result?.content?.[0]?.text ?? `error ${message.error?.code}`;
          said.set(text, (said.get(text) ?? 0) + 1);
        }
      };
      const load = calling();
      const killed = startElicitgate(['rekey', '-c', replicas.file(0)]);
      await killed.logs(/records …/);
      killed.signal('SIGKILL');
      await killed.end;
      const again = await runElicitgate(['rekey', '-c', replicas.file(1), '--json']);
      isOver = true;
      await load;
      assert.equal(again.code, 0, again.stderr);
      const report = JSON.parse(again.stdout) as { readonly records: number; readonly resealed: number; readonly stillOld: number; readonly unopened: object };
      assert.deepEqual({ unopened: report.unopened, stillOld: report.stillOld }, { unopened: {}, stillOld: 0 });
      assert.ok(report.records >= 1_101);
      const today = createRecords<string>(store, ringOf(newKey), 'default', 'secret', 'secret');
      for (const nth of [0, 600, 1_099]) assert.equal((await today.get({ owner: [`p${nth}`], item: ['key'] }))?.value, 'sk');
      assert.deepEqual([...said.keys()], ['paid']);
      t.diagnostic(`calls meanwhile: ${said.get('paid')}, sealed by the second run: ${report.resealed} of ${report.records}`);
    });

    test('renew an account with one token request for 200 calls at three of them, and all 200 succeed (B9)', async (t) => {
      const database = await start();
      t.after(() => database.close());
      const third = await startThirdParty();
      t.after(() => third.close());
      const vaultKey = generateKey();
      const credential = `credentials: { key: { kind: oauth, title: Box, issuer: "${third.issuer}", ${third.client}, scopes: [read], inject: { headers: { Authorization: "Bearer {access_token}" } } } }`;
      const { url, upstream } = await startReplicas(t, { store: database.url, keys: [vaultKey], cacheFor: '0s', credential });
      const client = await connect(url, { capabilities: urlMode });
      const connected = await goThrough(createWebVisitor(), linkIn((await client.call('paid')).text));
      assert.equal(headingOf(connected), 'Box is connected');
      const store = await open(database.url);
      t.after(() => store.close());
      const vault = createVault(store, ringOf(vaultKey), 'default', { cacheForMs: 0, deleteUnusedAfterMs: 86_400_000 }, Date.now);
      const secret: Secret = (await vault.inspect(box)) ?? assert.fail('not stored');
      assert.ok(secret.grant);
      await vault.keep(box, { ...secret, grant: { ...secret.grant, renewAt: 1, endsAt: 2 } });
      const answers = await Promise.all(Array.from({ length: 200 }, () => client.call('paid')));
      assert.deepEqual([...new Set(answers.map(({ message, text }) => message.result?.content?.[0]?.text ?? text))], ['paid']);
      assert.equal(third.tokenRequests('refresh_token').length, 1);
      const sent = upstream.requests.filter(({ body }) => body.includes('"tools/call"')).map((request) => request.header('authorization'));
      assert.equal(sent.length, 200);
      assert.equal(new Set(sent).size, 1);
      assert.notEqual(sent[0], `Bearer ${secret.fields['access_token']}`);
    });
  });
}
