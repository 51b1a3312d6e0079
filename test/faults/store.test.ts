/** The store or the audit trail fails while the proxy runs (B2): what needs it is refused with 1503 and never sent, the rest goes on, and it comes back by itself. */
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, post, provide, send, toolCall, urlMode } from '../kit/mcp-client.ts';

const uncached = 'vault: { store: "sqlite:./elicitgate.db", keys: ["${KEY}"], cacheFor: 0s }';

const fileOf = ({ proxy }: RunningGateway): string => join(proxy.folder, 'elicitgate.db');

/** Runs SQL in the proxy's file, as an operator's accident would. */
function inDatabase(gateway: RunningGateway, sql: string): void {
  const database = new DatabaseSync(fileOf(gateway), { timeout: 2_000 });
  database.exec(sql);
  database.close();
}

type Move = (gateway: RunningGateway) => void;

const loseTable: Move = (gateway) => { inDatabase(gateway, 'ALTER TABLE records RENAME TO hidden'); };
const findTable: Move = (gateway) => { inDatabase(gateway, 'ALTER TABLE hidden RENAME TO records'); };
const moveAway: Move = (gateway) => { renameSync(fileOf(gateway), `${fileOf(gateway)}.away`); };
const moveBack: Move = (gateway) => { renameSync(`${fileOf(gateway)}.away`, fileOf(gateway)); };
const replace: Move = (gateway) => { moveAway(gateway); writeFileSync(fileOf(gateway), ''); };

const breakages: readonly [string, Move, Move][] = [
  ['the table is gone', loseTable, findTable],
  ['the file was moved away', moveAway, moveBack],
  ['another file stands in its place', replace, moveBack],
];

test('while the store cannot look, a protected call is 1503 and stays here, an unprotected one passes, and all is well when it can again (B2)', async (t) => {
  for (const [name, spoil, mend] of breakages) {
    const gateway = await startGateway(t, { file: uncached });
    const { url, upstream, proxy } = gateway;
    const client = await connect(url, { capabilities: urlMode });
    await provide(client, 'paid', { token: key });
    spoil(gateway);
    const before = upstream.requests.length;
    const refused = await client.post(toolCall('paid', {}, 'mine'));
    assert.deepEqual([refused.status, refused.message.id, refused.message.error?.code], [200, 'mine', 1503], name);
    assert.equal(refused.text.includes('elicitations'), false); // "could not look" is never "not there"
    assert.equal(upstream.requests.length, before);
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
    assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
    mend(gateway);
    assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
    assert.equal(proxy.log.join('').includes(key), false);
  }
});

test('a question cannot be put without the store: 1503, in every form, and no link that does not work (B2)', async (t) => {
  const gateway = await startGateway(t, { file: uncached });
  const clients = [await connect(gateway.url, { capabilities: urlMode }), await connect(gateway.url)];
  loseTable(gateway);
  const before = gateway.upstream.requests.length;
  for (const client of clients) {
    const refused = await client.call('paid');
    assert.deepEqual([refused.status, refused.message.error?.code, refused.text.includes('/connect/')], [200, 1503, false]);
  }
  assert.equal(gateway.upstream.requests.length, before);
});

test('a record that does not open is no missing record: 1503, never a new question (A20)', async (t) => {
  const gateway = await startGateway(t, { file: uncached });
  const client = await connect(gateway.url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  inDatabase(gateway, "UPDATE records SET value = randomblob(200) WHERE key LIKE 'secret/%'");
  const before = gateway.upstream.requests.length;
  assert.equal((await client.call('paid')).message.error?.code, 1503);
  assert.equal(gateway.upstream.requests.length, before);
  assert.equal((await client.call('free')).status, 200);
});

test('with `attach: always` every message may need what cannot be looked up, so all are 1503 or 503 until it can (B2)', async (t) => {
  const gateway = await startGateway(t, { file: uncached, with: 'attach: always' });
  const client = await connect(gateway.url);
  await provide(client, 'paid', { token: key });
  loseTable(gateway);
  const before = gateway.upstream.requests.length;
  assert.deepEqual((await client.call('free')).message.error?.code, 1503);
  assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 503);
  assert.equal((await client.bare('GET')).status, 503);
  assert.equal((await client.bare('DELETE')).status, 503);
  assert.equal(gateway.upstream.requests.length, before);
});

test('a cached key goes on serving while the store is away, until the cache forgets it (B2)', async (t) => {
  const gateway = await startGateway(t);
  const client = await connect(gateway.url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  loseTable(gateway);
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  gateway.proxy.pass(31_000);
  assert.equal((await client.call('paid')).message.error?.code, 1503);
});

test('whether a session was ended before this process began cannot be known without the store: protected calls fail, even with a cached key, the others pass', async (t) => {
  const installation = sameInstallation(t);
  const before = await startGateway(t, { ...installation, upstream: { sessions: false } });
  const { session = '' } = await connect(before.url, { capabilities: urlMode });
  await before.proxy.close();
  const gateway = await startGateway(t, { ...installation, upstream: { sessions: false } });
  const later = await connect(gateway.url, { capabilities: urlMode });
  await provide(later, 'paid', { token: key });
  loseTable(gateway);
  const call = (tool: string) => post(gateway.url, toolCall(tool), { 'Mcp-Session-Id': session });
  assert.equal((await call('free')).message.result?.content?.[0]?.text, 'free');
  assert.equal((await call('paid')).message.error?.code, 1503);
  assert.equal((await later.call('paid')).message.result?.content?.[0]?.text, 'paid');
  findTable(gateway);
  assert.equal((await call('paid')).message.result?.content?.[0]?.text, 'paid');
});

test('DELETE without the store is 503, and the session is over in this process all the same', async (t) => {
  for (const sessions of [true, false]) {
    const gateway = await startGateway(t, { upstream: { sessions } });
    const client = await connect(gateway.url, { capabilities: urlMode });
    loseTable(gateway);
    const answer = await client.bare('DELETE');
    assert.deepEqual([answer.status, answer.message.error?.code], [503, 1503]);
    assert.equal((await client.call('free')).status, 404);
  }
});

test('with `audit.required` nothing is asked and nothing injected while the trail cannot be written; what carries no key passes', async (t) => {
  const gateway = await startGateway(t, { with: 'attach: always', file: 'audit: { to: ["file:/dev/full"], required: true }' });
  const client = await connect(gateway.url, { capabilities: urlMode });
  const refused = await client.call('paid');
  assert.deepEqual([refused.status, refused.message.error?.code], [200, 1503]);
  assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
});

test('a key that is stored already is not injected, on any method, while a required trail cannot be written', async (t) => {
  const installation = sameInstallation(t);
  const before = await startGateway(t, installation);
  const client = await connect(before.url);
  await provide(client, 'paid', { token: key });
  await before.proxy.close();
  const { requests, url: upstreamUrl } = before.upstream;
  const env = { UPSTREAM: upstreamUrl };
  const gateway = await startGateway(t, { ...installation, env, with: 'attach: always', file: 'audit: { to: ["file:/dev/full"], required: true }' });
  const opened = { 'Mcp-Session-Id': client.session ?? '' };
  const sent = requests.length;
  assert.equal((await post(gateway.url, toolCall('paid'), opened)).message.error?.code, 1503);
  assert.equal((await connect(gateway.url)).opened.message.error?.code, 1503);
  assert.equal((await post(gateway.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, opened)).status, 503);
  for (const method of ['GET', 'DELETE']) assert.equal((await send(gateway.url, { method, headers: opened })).status, 503, method);
  assert.equal(requests.length, sent);
});

/** What two processes must share to be one installation, one after the other. */
function sameInstallation(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  return { folder, key: generateKey() };
}
