/** Sessions of the legacy era through the proxy: who gets an id, what it stands for, and how it ends. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { startGateway } from '../kit/gateway.ts';
import { connect, post, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { json, sse } from '../kit/recorder.ts';

const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } };

test('a client gets a session id when the upstream gave one or when it declared elicitation; a sessionless upstream stays so for all others', async (t) => {
  const stateful = await startGateway(t);
  assert.notEqual((await connect(stateful.url)).session, undefined);
  const sessionless = await startGateway(t, { upstream: { sessions: false }, file: 'elicitation: { clients: [{ name: old-, treatAs: text }] }' });
  assert.equal((await connect(sessionless.url)).session, undefined);
  assert.equal((await connect(sessionless.url, { capabilities: { sampling: {}, roots: {} } })).session, undefined);
  assert.notEqual((await connect(sessionless.url, { capabilities: { elicitation: {} } })).session, undefined);
  assert.notEqual((await connect(sessionless.url, { capabilities: urlMode })).session, undefined);
  assert.notEqual((await connect(sessionless.url, { clientInfo: { name: 'old-client', version: '1' } })).session, undefined);
});

test('a sessionless upstream never sees a session id, also of a client that has one of ours', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { sessions: false } });
  const client = await connect(url, { capabilities: urlMode });
  assert.equal((await client.call('free')).status, 200);
  assert.equal((await client.bare('DELETE')).status, 200);
  assert.deepEqual(upstream.requests.filter((request) => request.header('mcp-session-id') !== undefined), []);
  assert.deepEqual(upstream.requests.map(({ method }) => method), ['POST', 'POST']); // there is nothing to end upstream
  assert.equal((await client.call('free')).status, 404);
});

for (const answers of ['json', 'sse'] as const) {
  test(`the session id comes with an initialize answered by ${answers}, and only with one that succeeded`, async (t) => {
    const { url, upstream } = await startGateway(t, { upstream: { answers } });
    const opened = await connect(url, { capabilities: urlMode });
    assert.equal(opened.opened.status, 200);
    assert.match(opened.session ?? '', /^[\w-]{100,}$/);
    const failures = [
      { jsonrpc: '2.0', id: 'open', error: { code: -32602, message: 'Unsupported protocol version' } },
      { jsonrpc: '2.0', id: 'open', result: null },
      { jsonrpc: '2.0', id: 'open', result: [result] },
      [{ jsonrpc: '2.0', id: 'open', result }],
    ];
    for (const failure of failures) {
      const headers = { 'mcp-session-id': 'upstream-session' };
      upstream.setBehaviour(() => (answers === 'json' ? json(failure, headers) : sse(`data: ${JSON.stringify(failure)}\n\n`, headers)));
      assert.equal((await connect(url, { capabilities: urlMode })).session, undefined, JSON.stringify(failure));
    }
    for (const status of [400, 500]) {
      upstream.setBehaviour(() => ({ ...json({ jsonrpc: '2.0', id: 'open', result }, { 'mcp-session-id': 'upstream-session' }), status }));
      assert.equal((await connect(url, { capabilities: urlMode })).session, undefined);
    }
  });
}

test('events before the result of initialize arrive with it, and the result decides on the session', async (t) => {
  const { url } = await startGateway(t, {
    upstream: () => sse(['id: 1\ndata:\n\n: hello\n\n', 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\ndata: {"jsonrpc":"2.0","id":"open",', `"result":${JSON.stringify(result)}}\n\n`]),
  });
  const { opened, session } = await connect(url, { capabilities: urlMode });
  assert.match(session ?? '', /^[\w-]{100,}$/);
  assert.equal(opened.text, `id: 1\ndata:\n\n: hello\n\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\ndata: {"jsonrpc":"2.0","id":"open","result":${JSON.stringify(result)}}\n\n`);
});

test('the version that was negotiated goes upstream on every later request, also when the client leaves it out or repeats the one it asked for (H10)', async (t) => {
  const { url, upstream } = await startGateway(t, {
    upstream: (request) => (callOf(request)?.method === 'initialize' ? json({ jsonrpc: '2.0', id: 'open', result }, { 'mcp-session-id': 'one' }) : { status: 202 }),
  });
  const { session = '' } = await connect(url, { protocolVersion: '2025-11-25' });
  const headers = { 'Mcp-Session-Id': session };
  const saw = async (version: Record<string, string>) => {
    await post(url, initialized, { ...headers, ...version });
    return upstream.requests.at(-1)?.header('mcp-protocol-version');
  };
  assert.equal(await saw({}), '2025-06-18');
  assert.equal(await saw({ 'MCP-Protocol-Version': '2025-11-25' }), '2025-06-18');
  assert.equal(await saw({ 'MCP-Protocol-Version': '2025-06-18' }), '2025-06-18');
  assert.equal(await saw({ 'MCP-Protocol-Version': '2025-03-26' }), '2025-03-26'); // the client's own mistake is the upstream's to judge
});

test('without a session of ours nothing is said of a version that the client does not name, and an upstream that negotiated none is told of none (H10)', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { sessions: false } });
  await post(url, initialized);
  assert.equal(upstream.requests.at(-1)?.header('mcp-protocol-version'), undefined);
  upstream.setBehaviour(() => json({ jsonrpc: '2.0', id: 'open', result: {} }, { 'mcp-session-id': 'one' }));
  const { session = '' } = await connect(url);
  await post(url, initialized, { 'Mcp-Session-Id': session });
  assert.equal(upstream.requests.at(-1)?.header('mcp-protocol-version'), undefined);
});

test('a negotiated version that cannot stand in a header breaks no later request (H10)', async (t) => {
  const { url, upstream } = await startGateway(t); // it negotiates whatever is asked for
  for (const odd of ['2025\n11', '版本', '', 'x'.repeat(1_000), 20251125, null, ['2025-11-25']]) {
    const opened = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: odd, capabilities: {} } });
    const session = opened.headers['mcp-session-id'] as string;
    const { status, message } = await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'Mcp-Session-Id': session });
    assert.deepEqual([status, message.error], [200, undefined], JSON.stringify(odd));
  }
  assert.equal(upstream.requests.at(-1)?.header('mcp-protocol-version'), undefined);
});

test('an upstream that has forgotten the session ends it: 404 at once and ever after without asking it again, and a new start works (H5)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode });
  upstream.setBehaviour(mcpServer()); // as after a restart
  const lost = await client.call('free');
  assert.deepEqual([lost.status, lost.message.id, lost.message.error?.code], [404, 1, -32001]);
  const before = upstream.requests.length;
  assert.equal((await client.call('free')).status, 404);
  assert.equal(upstream.requests.length, before);
  assert.equal((await (await connect(url, { capabilities: urlMode })).call('free')).status, 200);
});

test('an upstream that answers 404 to a notification or a client’s response ends the session too (H5)', async (t) => {
  for (const message of [initialized, { jsonrpc: '2.0', id: 1, result: {} }]) {
    const { url, upstream } = await startGateway(t);
    const client = await connect(url);
    upstream.setBehaviour(mcpServer());
    assert.equal((await client.post(message)).status, 404);
    const before = upstream.requests.length;
    assert.equal((await client.call('free')).status, 404);
    assert.equal(upstream.requests.length, before);
  }
});

test('a 404 without a session of the upstream’s is no end of anything', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { sessions: false } });
  const client = await connect(url, { capabilities: urlMode });
  upstream.setBehaviour(() => ({ status: 404 }));
  assert.equal((await client.call('free')).message.error?.code, 1502);
  upstream.setBehaviour(mcpServer({ sessions: false }));
  assert.equal((await client.call('free')).status, 200);
});

test('DELETE ends the session upstream and here, and the tombstone outlives a restart on the same database', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  const options = { folder, key: generateKey() };
  const before = await startGateway(t, options);
  const [ended, kept] = [await connect(before.url), await connect(before.url)];
  assert.equal((await ended.bare('DELETE')).status, 200);
  assert.deepEqual([before.upstream.requests.at(-1)?.method, before.upstream.requests.at(-1)?.header('mcp-session-id')], ['DELETE', 'upstream-session-1']);
  await before.proxy.close();
  const after = await startGateway(t, { ...options, upstream: () => json({ jsonrpc: '2.0', id: 1, result: {} }) });
  const call = (session = '') => post(after.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'Mcp-Session-Id': session });
  assert.equal((await call(ended.session)).status, 404);
  assert.deepEqual(after.upstream.requests, []);
  assert.equal((await call(kept.session)).status, 200);
});

test('an upstream that does not let clients end sessions says 405, and then the session lives', async (t) => {
  const server = mcpServer();
  const { url } = await startGateway(t, { upstream: (request) => (request.method === 'DELETE' ? { status: 405, body: 'no' } : server(request)) });
  const client = await connect(url);
  const answer = await client.bare('DELETE');
  assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST']);
  assert.equal((await client.call('free')).status, 200);
});

test('a session that is ended many times at once is ended once upstream, and every DELETE is answered alike', async (t) => {
  for (const [status, expected] of [[204, 204], [405, 405]] as const) {
    const server = mcpServer();
    const answer = Promise.withResolvers<undefined>();
    const { url, upstream } = await startGateway(t, { upstream: (request) => (request.method === 'DELETE' ? answer.promise.then(() => ({ status })) : server(request)) });
    const client = await connect(url);
    const all = Promise.all(Array.from({ length: 20 }, () => client.bare('DELETE')));
    await upstream.request(({ method }) => method === 'DELETE');
    // Every one has reached the proxy once a call after them is answered.
    await client.call('free');
    answer.resolve(undefined);
    assert.deepEqual([...new Set((await all).map((one) => one.status))], [expected]);
    assert.equal(upstream.requests.filter(({ method }) => method === 'DELETE').length, 1);
  }
});

test('a session that its client ended stays ended whatever the upstream answered, or did not', async (t) => {
  for (const [status, expected] of [[204, 204], [404, 404], [400, 400], [401, 502], [500, 502], [302, 502]] as const) {
    const server = mcpServer();
    const { url } = await startGateway(t, { upstream: (request) => (request.method === 'DELETE' ? { status } : server(request)) });
    const client = await connect(url);
    assert.equal((await client.bare('DELETE')).status, expected);
    assert.equal((await client.call('free')).status, 404, String(status));
  }
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  await upstream.close();
  assert.equal((await client.bare('DELETE')).status, 502);
  assert.equal((await client.call('free')).status, 404);
});
