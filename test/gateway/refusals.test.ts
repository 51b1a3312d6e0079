/** The table of errors on the MCP endpoint, row by row, as a legacy client sees it: status, code, its own id, and words without details. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { refusals, type Reason } from '../../src/errors.ts';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, post, provide, toolCall, type Answer } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { CUT, type Reply } from '../kit/recorder.ts';

const json = { 'content-type': 'application/json' };
const rpcError = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{"big":12345678901234567890}}}';

function told({ status, headers, message }: Answer): unknown[] {
  return [status, headers['content-type'], message.id, message.error?.code];
}

test('an upstream that cannot be reached: 200 with 1502 to a request, 502 to what wants no answer', async (t) => {
  const { url, proxy } = await startGateway(t, { file: `upstreams: { main: { url: "http://127.0.0.1:${await freePort()}/mcp" } }` });
  assert.deepEqual(told(await post(url, toolCall('free', {}, 'mine'))), [200, 'application/json', 'mine', 1502]);
  assert.deepEqual(told(await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })), [502, 'application/json', null, 1502]);
  assert.deepEqual(told(await post(url, { jsonrpc: '2.0', id: 'theirs', result: {} })), [502, 'application/json', null, 1502]);
  const { opened } = await connect(url);
  assert.deepEqual([...told(opened), opened.headers['mcp-session-id']], [200, 'application/json', 'open', 1502, undefined]);
  assert.equal(proxy.log.some((line) => line.includes('ECONNREFUSED')), true); // details are in the log
});

/** What the upstream answers to a call, and what becomes of it. */
const useless: readonly [string, Reply][] = [
  ['500 without a body', { status: 500 }],
  ['500 with HTML', { status: 500, headers: { 'content-type': 'text/html' }, body: '<h1>Internal</h1>' }],
  ['500 with JSON of another kind', { status: 500, headers: json, body: '{"error":"stack trace"}' }],
  ['502 of a gateway behind', { status: 502, headers: { 'content-type': 'text/plain' }, body: 'Bad Gateway' }],
  ['503', { status: 503, headers: { 'retry-after': '5' } }],
  ['400 without a body', { status: 400 }],
  ['400 with JSON that is no JSON-RPC', { status: 400, headers: json, body: '{"code":1}' }],
  ['400 with a JSON-RPC request', { status: 400, headers: json, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }],
  ['400 with half of an error', { status: 400, headers: json, body: rpcError.slice(0, 40) }],
  ['400 as an event stream', { status: 400, headers: { 'content-type': 'text/event-stream' }, body: `data: ${rpcError}\n\n` }],
  ['404 without a session', { status: 404, headers: { 'content-type': 'text/html' }, body: 'Not Found' }],
  ['401', { status: 401, headers: { 'www-authenticate': 'Bearer' } }],
  ['401 with JSON-RPC', { status: 401, headers: json, body: rpcError }],
  ['403 with JSON-RPC', { status: 403, headers: json, body: rpcError }],
  ['204', { status: 204 }],
  ['202 to a request', { status: 202 }],
  ['200 without a type', { body: '{}' }],
  ['200 with HTML', { headers: { 'content-type': 'text/html' }, body: 'hello' }],
  ['a body cut in the middle', { headers: json, body: ['{"jsonrpc":"2.0",', CUT] }],
  ['headers and no more', { headers: json, body: [CUT] }],
  ['an error body cut in the middle', { status: 500, headers: json, body: [rpcError.slice(0, 30), CUT] }],
];

test('an upstream answer of no use is 200 with 1502 and the id of the client, whatever it was, with and without a key in the call', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: mcpServer({ sessions: false }) });
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  for (const [name, reply] of useless) {
    upstream.setBehaviour(() => reply);
    // A 401 to a call with a key in it says that the key is bad, and is answered with the question.
    for (const tool of reply.status === 401 ? ['free'] : ['free', 'paid']) {
      const answer = await client.post(toolCall(tool, {}, 0));
      assert.deepEqual(told(answer), [200, 'application/json', 0, 1502], `${name}, ${tool}`);
      assert.deepEqual(Object.keys(answer.message.error ?? {}), ['code', 'message']);
      assert.equal(answer.message.error?.message, 'The server behind this proxy cannot be reached or gave no usable answer; its operator can see why in the log.');
    }
  }
});

test('a JSON-RPC error under a 4xx or 5xx of the upstream’s comes as it was: status and bytes', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: mcpServer({ sessions: false }) });
  const client = await connect(url);
  for (const status of [400, 402, 404, 405, 409, 415, 422, 429, 500, 503]) {
    upstream.setBehaviour(() => ({ status, headers: { 'content-type': 'application/json; charset=utf-8', 'retry-after': '9' }, body: rpcError }));
    const { status: seen, text, headers } = await client.call('free');
    assert.deepEqual([seen, text, headers['content-type'], headers['retry-after']], [status, rpcError, 'application/json', undefined]);
  }
});

test('an upstream that does not answer in time: 200 with 1504, 504 to what wants no answer', async (t) => {
  const { url, upstream } = await startGateway(t, { with: 'timeout: 200ms', upstream: () => new Promise(() => undefined) });
  assert.deepEqual(told(await post(url, toolCall('free', {}, ''))), [200, 'application/json', '', 1504]);
  assert.deepEqual(told(await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })), [504, 'application/json', null, 1504]);
  assert.equal(upstream.requests.length, 2); // and nothing was sent twice
});

test('an answer to a notification or a response is 202 without a body or a type, whatever 2xx it was (H2)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const replies: Reply[] = [
    { status: 202 },
    { status: 200, headers: json, body: 'null' },
    { status: 200, headers: json, body: rpcError },
    { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>thanks</p>' },
    { status: 204 },
    { status: 200, headers: { 'content-type': 'text/event-stream' }, body: ['data: x\n\n', new Promise(() => undefined)] },
  ];
  for (const reply of replies) {
    upstream.setBehaviour(() => reply);
    for (const message of [{ jsonrpc: '2.0', method: 'notifications/initialized' }, { jsonrpc: '2.0', id: 3, result: {} }, { jsonrpc: '2.0', id: 3, error: { code: 1, message: 'x' } }]) {
      const { status, text, headers } = await client.post(message);
      assert.deepEqual([status, text, headers['content-type'], headers['content-length']], [202, '', undefined, '0']);
    }
  }
});

test('a refused notification or response keeps its 4xx; logins, redirects and 5xx of the upstream are 502', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: mcpServer({ sessions: false }) });
  const client = await connect(url);
  for (const message of [{ jsonrpc: '2.0', method: 'notifications/initialized' }, { jsonrpc: '2.0', id: 3, result: {} }]) {
    for (const status of [400, 404, 405, 409, 413, 422, 429]) {
      for (const reply of [{ status }, { status, headers: { 'content-type': 'text/html' }, body: '<p>no</p>' }, { status, headers: json, body: '{"a":1}' }]) {
        upstream.setBehaviour(() => reply);
        const { status: seen, text, headers } = await client.post(message);
        assert.deepEqual([seen, text, headers['content-type']], [status, '', undefined]);
      }
      upstream.setBehaviour(() => ({ status, headers: json, body: rpcError }));
      const { status: seen, text } = await client.post(message);
      assert.deepEqual([seen, text], [status, rpcError]);
    }
    for (const status of [301, 401, 403, 500, 503]) {
      upstream.setBehaviour(() => ({ status }));
      assert.deepEqual(told(await client.post(message)), [502, 'application/json', null, 1502], String(status));
    }
  }
});

test('too many calls: 429 with Retry-After and 1429; notifications and responses are free', async (t) => {
  const { url, upstream } = await startGateway(t, { file: 'limits: { perUser: { calls: 3/1m } }' });
  const client = await connect(url); // the first call
  assert.equal((await client.call('free')).status, 200);
  assert.equal((await client.call('paid')).status, 200);
  const before = upstream.requests.length;
  const refused = await client.post(toolCall('free', {}, 'late'));
  assert.deepEqual(told(refused), [429, 'application/json', 'late', 1429]);
  assert.match(String(refused.headers['retry-after']), /^([1-9]|[1-5]\d|60)$/);
  assert.equal(upstream.requests.length, before);
  assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: {} })).status, 202);
  assert.equal((await client.post({ jsonrpc: '2.0', id: 1, result: {} })).status, 202);
});

test('errors of the proxy come from one closed table, in whole sentences', () => {
  const seen = Object.fromEntries(Object.entries(refusals).map(([reason, { status, bareStatus, code }]) => [reason, [status, bareStatus, code]]));
  const legacy: Partial<Record<Reason, number[]>> = {
    'foreign-host': [403, 403, -32600],
    'foreign-origin': [403, 403, -32600],
    forwarded: [403, 403, -32600],
    'not-json': [400, 400, -32700],
    'invalid-request': [400, 400, -32600],
    'repeated-header': [400, 400, -32600],
    'unsupported-era': [400, 400, -32600],
    'header-mismatch': [400, 400, -32020],
    'missing-meta': [400, 400, -32602],
    'invalid-state': [400, 400, -32602],
    declined: [200, 200, 1402],
    'unsupported-media': [415, 415, -32600],
    'not-acceptable': [406, 406, -32600],
    'too-large': [413, 413, -32600],
    'unknown-session': [404, 404, -32001],
    'too-many-calls': [429, 429, 1429],
    'credential-required': [200, 403, 1401],
    unreachable: [200, 502, 1502],
    'too-slow': [200, 504, 1504],
    unavailable: [200, 503, 1503],
  };
  for (const [reason, row] of Object.entries(legacy)) assert.deepEqual(seen[reason], row, reason);
  for (const [reason, { message }] of Object.entries(refusals)) assert.match(message, /^[A-Z].{10,}\.$/, reason);
});
