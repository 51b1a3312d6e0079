/** Servers of the old HTTP+SSE transport (2024-11-05), as clients see them over Streamable HTTP. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRecorder, sse } from '../kit/recorder.ts';

const key = planted('sk-sse-88aa41d09c');

interface Seen {
  readonly method: string;
  readonly key: string | undefined;
}

/** One stream for each GET; posts to the address that the stream named are answered on it. */
async function startSseServer(t: TestContext, endpoint = (id: number): string => `messages?session=${id}`) {
  const streams = new Map<string, ServerResponse>();
  const seen: Seen[] = [];
  const server = createServer((request, reply) => {
    const { key: given } = { key: request.headers['x-key'] as string | undefined };
    seen.push({ method: request.method ?? '', key: given });
    const url = new URL(request.url ?? '', 'http://x');
    if (request.method === 'GET') {
      const id = streams.size + 1;
      streams.set(String(id), reply);
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(`event: endpoint\ndata: ${endpoint(id)}\n\n`);
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk)).on('end', () => {
      reply.writeHead(202).end('Accepted');
      const { id, method, params } = JSON.parse(body) as { id?: unknown; method: string; params?: { name?: string; protocolVersion?: string } };
      if (id === undefined) return;
      const result = method === 'initialize' ? { protocolVersion: params?.protocolVersion, capabilities: {}, serverInfo: { name: 'old', version: '1' } } : { content: [{ type: 'text', text: `${method} ${params?.name ?? ''} on ${url.searchParams.get('session') ?? ''}` }] };
      streams.get(url.searchParams.get('session') ?? '')?.write(`event: message\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, streams, seen };
}

async function inFront(t: TestContext, url: string, more = '') {
  const proxy = await startProxy(`
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } }
upstreams: { main: { transport: sse, url: "${url}", rules: [{ tools: [paid], requires: [key] }]${more} } }`);
  t.after(() => proxy.close());
  return { url: `${proxy.origin}/mcp`, proxy };
}

describe('an upstream over HTTP+SSE', () => {
  test('each session has its own connection, and what needs a key goes over one that was opened with it', async (t) => {
    const upstream = await startSseServer(t);
    const { url } = await inFront(t, upstream.url);
    const client = await connect(url, { capabilities: urlMode });
    assert.deepEqual(client.opened.message.result, { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'old', version: '1' } });
    const other = await connect(url, { capabilities: urlMode });
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'tools/call free on 1');
    assert.equal((await other.call('free')).message.result?.content?.[0]?.text, 'tools/call free on 2');
    await provide(client, 'paid', { token: key });
    assert.ok(upstream.seen.every(({ key: given }) => given === undefined));
    assert.equal((await client.post(toolCall('paid', {}, 'an id'))).text, '{"jsonrpc":"2.0","id":"an id","result":{"content":[{"type":"text","text":"tools/call paid on 3"}]}}');
    const withKey = upstream.seen.filter(({ key: given }) => given === key).map(({ method }) => method);
    assert.deepEqual(withKey, ['GET', 'POST', 'POST', 'POST']);
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'tools/call free on 1');
  });

  test('with attach: always everything goes over the connection with the key once it was given, the lists too (E7)', async (t) => {
    const upstream = await startSseServer(t);
    const { url } = await inFront(t, upstream.url, ', attach: always');
    const client = await connect(url, { capabilities: urlMode });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    assert.match((await client.post(list)).text, /tools\/list {2}on 1/);
    await provide(client, 'paid', { token: key });
    assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'tools/call paid on 2');
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'tools/call free on 2');
    assert.match((await client.post(list)).text, /tools\/list {2}on 2/);
  });

  test('an endpoint at another origin is refused, and nothing is posted there', async (t) => {
    const elsewhere = await startRecorder(() => ({ status: 202 }));
    t.after(() => elsewhere.close());
    for (const address of [elsewhere.url, `//${new URL(elsewhere.url).host}/mcp`]) {
      const upstream = await startSseServer(t, () => address);
      const { url, proxy } = await inFront(t, upstream.url);
      assert.equal((await connect(url)).opened.message.error?.code, 1502);
      assert.ok(proxy.log.some((line) => line.includes('"reason":"ENDPOINT_ELSEWHERE"')));
    }
    assert.equal(elsewhere.requests.length, 0);
  });

  test('when the connection ends, open calls fail and the session is unknown, so that the client begins anew', async (t) => {
    const upstream = await startSseServer(t);
    const { url } = await inFront(t, upstream.url);
    const client = await connect(url);
    assert.equal((await client.call('free')).status, 200);
    upstream.streams.get('1')?.end();
    while ((await client.call('free')).status !== 404);
    assert.equal((await (await connect(url)).call('free')).message.result?.content?.[0]?.text, 'tools/call free on 2');
  });

  test('a server that has no such stream is a clear error', async (t) => {
    for (const behaviour of [() => ({ status: 404 }), () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/sse' } }), () => ({ headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }), () => sse(['data: noise\n\n'])]) {
      const upstream = await startRecorder(behaviour);
      const { url } = await inFront(t, upstream.url);
      assert.equal((await connect(url)).opened.message.error?.code, 1502);
      await upstream.close();
    }
  });
});
