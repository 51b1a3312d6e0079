/** Bodies that are refused before they are read as messages: too large, of another kind, compressed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { startGateway } from '../kit/gateway.ts';
import { connect, post, send, toolCall } from '../kit/mcp-client.ts';

const body = JSON.stringify(toolCall('paid'));
const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const small = 'server: { listen: "${LISTEN}", admin: false, drain: 1s, maxBody: 64KiB }';

/** A call whose bytes are exactly so many. */
function callOf(bytes: number): string {
  const empty = JSON.stringify(toolCall('free', { text: '' }));
  return empty.replace('"text":""', `"text":"${'x'.repeat(bytes - empty.length)}"`);
}

test('a message up to the limit passes; one byte more is 413 with a JSON-RPC error, with a Content-Length and in chunks (H8)', async (t) => {
  const { url, upstream } = await startGateway(t, { file: small, upstream: { sessions: false } });
  for (const chunked of [false, true]) {
    const sendOf = (bytes: number) => {
      const text = callOf(bytes);
      return send(url, { headers, body: chunked ? [text.slice(0, 1_000), text.slice(1_000)] : text });
    };
    assert.equal((await sendOf(64 * 1024)).status, 200);
    const before = upstream.requests.length;
    const { status, message, headers: answered } = await sendOf(64 * 1024 + 1);
    assert.deepEqual([status, answered['content-type'], message.id, message.error?.code], [413, 'application/json', null, -32600]);
    assert.match(message.error?.message ?? '', /larger than this proxy takes; the operator can raise server\.maxBody/);
    assert.equal(upstream.requests.length, before);
  }
});

test('the default limit lets the usual large arguments through, of 7 MiB for one (H8)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const text = callOf(7 * 1024 * 1024);
  assert.equal((await client.post(text)).status, 200);
  assert.equal(upstream.requests.at(-1)?.body.length, text.length);
  assert.equal((await send(url, { headers: { ...headers, 'Mcp-Session-Id': client.session ?? '' }, body: [text.slice(0, 100), text.slice(100)] })).status, 200);
  assert.equal(upstream.requests.at(-1)?.body.toString(), text);
});

test('a body of 100 MB is refused while it is sent, with its 413 delivered and without being held in memory (B7)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const before = process.memoryUsage().rss;
  const chunked = await send(url, { headers, body: Array.from({ length: 100 }, () => megabyte) });
  assert.deepEqual([chunked.status, chunked.message.error?.code], [413, -32600]);
  const declared = await send(url, { headers: { ...headers, 'Content-Length': String(100 * megabyte.length) }, body: megabyte });
  assert.deepEqual([declared.status, declared.message.error?.code], [413, -32600]);
  // The limit, what the socket and the sender's queue in this same process hold, and garbage of theirs.
  assert.ok(process.memoryUsage().rss - before < 60 * 1024 * 1024);
  assert.deepEqual(upstream.requests, []);
});

test('a refused message costs its client no connection: the next one on it is served (H8)', async (t) => {
  const { url, upstream } = await startGateway(t, { file: small, upstream: { sessions: false } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => { agent.destroy(); });
  const sockets = new Set<unknown>();
  const statuses: (number | undefined)[] = [];
  for (const [type, text] of [['application/json', callOf(1_000_000)], ['text/plain', body], ['application/json', '{'], ['application/json', JSON.stringify(toolCall('free'))]] as const) {
    const outgoing = request(url, { method: 'POST', agent, headers: { ...headers, 'Content-Type': type } }).end(text);
    outgoing.once('socket', (socket) => sockets.add(socket));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    statuses.push(answer.statusCode);
    await answer.resume().toArray();
  }
  assert.deepEqual(statuses, [413, 415, 400, 200]);
  assert.equal(sockets.size, 1);
  assert.equal(upstream.requests.length, 1);
});

test('another media type is 415, also one that only looks like JSON, and nothing is forwarded (A8)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const types = [
    'text/plain', 'text/json', 'application/jsonp', 'application/json-rpc', 'application/vnd.api+json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x',
    'application/json, text/plain', 'application/json/x', 'json', '*/*', '', ';', 'application/json; charset=utf-16', 'application/json; charset=iso-8859-1', 'application/json; charset="utf-7"',
    // What parsers disagree about: a space before `=`, a parameter twice, a quoted pair.
    'application/json; charset =utf-7', 'application/json; charset= utf-7', 'application/json; charset=utf-8; charset=utf-7', 'application/json; charset=utf-7; Charset=utf-8',
    'application/json; charset =utf-8', 'application/json; charset="utf\\-8"', 'application/json; charset=utf-8 charset=utf-7', 'application/json\tcharset=utf-7',
  ];
  for (const type of types) {
    const answer = await send(url, { headers: { ...headers, 'Content-Type': type }, body });
    assert.deepEqual([answer.status, answer.message.id, answer.message.error?.code], [415, null, -32600], type);
  }
  const untyped = await send(url, { headers: { Accept: '*/*' }, body });
  assert.equal(untyped.status, 415);
  assert.deepEqual(upstream.requests, []);
});

test('a compressed body is 415 however it is spelt, be it a bomb or not, and nothing is forwarded or unpacked (B7)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20));
  for (const coding of ['gzip', 'GZIP', ' gzip ', 'x-gzip', 'br', 'deflate', 'zstd', 'compress', 'identity, gzip', 'gzip, identity', 'unknown', ['identity', 'gzip']]) {
    for (const bytes of [gzipSync(body), brotliCompressSync(body), bomb, Buffer.from(body)]) {
      const answer = await send(url, { headers: { ...headers, 'Content-Encoding': coding }, body: bytes });
      assert.deepEqual([answer.status, answer.message.error?.code], [415, -32600], String(coding));
    }
  }
  assert.deepEqual(upstream.requests, []);
  const named = await post(url, toolCall('paid'), { 'Content-Encoding': 'identity' });
  assert.equal(named.message.result?.isError, true);
});

test('a client that accepts neither JSON nor events is 406; one that accepts either, anything, or says nothing is served', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { sessions: false } });
  const status = async (accept: string | undefined) => {
    const { 'Content-Type': type } = headers;
    return (await send(url, { headers: { 'Content-Type': type, ...(accept === undefined ? {} : { Accept: accept }) }, body: JSON.stringify(toolCall('free')) })).status;
  };
  for (const accept of ['text/html', 'image/*', 'application/jsonp', 'text/html, application/xml;q=0.9', 'application/json-seq', '']) {
    assert.equal(await status(accept), 406, accept);
  }
  assert.deepEqual(upstream.requests, []);
  const served = ['application/json', 'text/event-stream', 'Application/JSON;q=0.5', '*/*', 'application/*', 'text/*', 'text/html,text/event-stream', 'text/html;q=1 , application/json ; q=0.1', undefined];
  for (const accept of served) assert.equal(await status(accept), 200, accept);
});
