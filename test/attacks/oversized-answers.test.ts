/** Attack A14: an upstream whose answers have no end. What is held is capped with an error that the client can read; what nobody needs is cut off. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, send } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder, type Reply } from '../kit/recorder.ts';

const megabyte = Buffer.alloc(1024 * 1024, 0x20);
const json = { 'content-type': 'application/json' };

function* endless(): Generator<Buffer> {
  for (;;) yield megabyte;
}

async function startWithKey(t: TestContext) {
  const gateway = await startGateway(t, { upstream: mcpServer({ sessions: false }) });
  const client = await connect(gateway.url);
  await provide(client, 'paid', { token: key });
  return { ...gateway, client };
}

/** Makes the upstream answer so once, and waits until its answer has been cut off. */
async function once<T>({ upstream }: Awaited<ReturnType<typeof startWithKey>>, reply: Reply, act: () => Promise<T>): Promise<T> {
  const before = upstream.requests.length;
  upstream.setBehaviour(() => reply);
  const result = await act();
  await upstream.requests[before]?.aborted;
  return result;
}

test('a header bomb is an error 1502, be it one header or very many (A14)', async (t) => {
  const gateway = await startWithKey(t);
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`x-${at}`, 'x'.repeat(60)]));
  for (const headers of [{ 'x-bomb': 'x'.repeat(70_000) }, many]) {
    gateway.upstream.setBehaviour(() => ({ headers: { ...json, ...headers }, body: '{"jsonrpc":"2.0","id":1,"result":{}}' }));
    const answer = await gateway.client.call('free');
    assert.deepEqual([answer.status, answer.message.error?.code], [200, 1502]);
  }
  gateway.upstream.setBehaviour(mcpServer({ sessions: false, headers: { 'x-large': 'x'.repeat(30_000) } }));
  assert.equal((await gateway.client.call('free')).status, 200);
});

test('an endless JSON answer to a call with a key in it is cut off with 1502, and memory stays flat (A14)', async (t) => {
  const gateway = await startWithKey(t);
  const before = process.memoryUsage().rss;
  for (let turn = 0; turn < 3; turn += 1) {
    const answer = await once(gateway, { headers: json, body: endless() }, () => gateway.client.call('paid'));
    assert.deepEqual([answer.status, answer.message.id, answer.message.error?.code], [200, 1, 1502]);
  }
  assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024);
});

test('an endless error body is cut off with 1502, and an endless refusal of a notification with its status (A14)', async (t) => {
  const gateway = await startWithKey(t);
  for (const [status, type] of [[400, 'application/json'], [500, 'application/json'], [500, 'text/html'], [200, 'text/html'], [302, 'text/html']] as const) {
    const answer = await once(gateway, { status, headers: { 'content-type': type }, body: endless() }, () => gateway.client.call('free'));
    assert.deepEqual([answer.status, answer.message.error?.code], [200, 1502], `${status} ${type}`);
  }
  const notify = () => gateway.client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  assert.equal((await once(gateway, { status: 200, headers: json, body: endless() }, notify)).status, 202);
  assert.equal((await once(gateway, { status: 409, headers: json, body: endless() }, notify)).status, 409);
});

test('an endless handshake is cut off with 1502 and gives no session, as JSON and as events (A14)', async (t) => {
  const gateway = await startWithKey(t);
  for (const type of ['application/json', 'text/event-stream']) {
    const reply = { headers: { 'content-type': type, 'mcp-session-id': 'one' }, body: endless() };
    const { opened, session } = await once(gateway, reply, () => connect(gateway.url));
    assert.deepEqual([opened.status, opened.message.error?.code, session], [200, 1502, undefined], type);
  }
});

test('of an answer to DELETE only the status is read (A14)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  upstream.setBehaviour(() => ({ body: endless() }));
  assert.equal((await client.bare('DELETE')).status, 200);
  await upstream.requests.at(-1)?.aborted;
});

test('a large answer without a key in it streams through whole (A14)', async (t) => {
  const { url } = await startGateway(t, { upstream: () => ({ headers: json, body: Array.from({ length: 48 }, () => megabyte) }) });
  const { body, headers } = await send(url, { headers: { ...json, Accept: '*/*' }, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
  assert.deepEqual([body.length, headers['content-length']], [48 * megabyte.length, undefined]);
});

test('a reference inside a schema is text: the proxy asks nobody for it (A14)', async (t) => {
  const internal = await startRecorder(() => ({ status: 200 }));
  t.after(() => internal.close());
  const answer = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","inputSchema":{"$ref":"${internal.url}"}}]}}`;
  const { url } = await startGateway(t, { upstream: () => ({ headers: json, body: answer }) });
  const { text } = await send(url, { headers: { ...json, Accept: '*/*' }, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
  assert.equal(text, answer);
  assert.deepEqual(internal.requests, []);
});
