import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { callOf, mcpServer } from './mcp-server.ts';
import { CUT, sse, startRecorder, type Recorder } from './recorder.ts';

let upstream: Recorder;
beforeEach(async () => {
  upstream = await startRecorder(mcpServer());
});
afterEach(() => upstream.close());

function call(id: string, headers: Record<string, string> = {}): Promise<Response> {
  const params = '{"name":"echo","arguments":{"n":9007199254740993}}';
  const body = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
  return fetch(upstream.url, { method: 'POST', headers, body });
}

for (const answers of ['json', 'sse'] as const) {
  for (const encoding of [undefined, 'gzip', 'br', 'deflate'] as const) {
    test(`the official client works with it: ${answers}, ${encoding ?? 'not compressed'}`, async () => {
      upstream.setBehaviour(mcpServer({ answers, get: 'open', ...(encoding === undefined ? {} : { encoding }) }));
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(upstream.url)));
      assert.deepEqual((await client.callTool({ name: 'paid' })).content, [{ type: 'text', text: 'paid' }]);
      const stream = await upstream.request(({ method }) => method === 'GET');
      assert.equal(upstream.openStreams(), 1);
      await client.close();
      await stream.aborted;
      assert.equal(upstream.openStreams(), 0);
    });
  }
}

test('a request is kept as it came', async () => {
  await call('1', { 'X-Odd': 'a' });
  const [request] = upstream.requests;
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/mcp');
  assert.equal(request.header('x-ODD'), 'a');
  assert.ok(request.rawHeaders.includes('X-Odd'));
  assert.equal(callOf(request)?.method, 'tools/call');
});

test('ids and arguments keep their digits', async () => {
  upstream.setBehaviour(mcpServer({ sessions: false }));
  const body = await (await call('9007199254740993')).text();
  assert.match(body, /^\{"jsonrpc":"2\.0","id":9007199254740993,/);
  assert.match(body, /\{\\"n\\":9007199254740993\}/);
});

test('a stateful server answers 400 without a session and 404 for one that it does not know or that ended', async () => {
  assert.equal((await call('1')).status, 400);
  assert.equal((await call('1', { 'mcp-session-id': 'made-up' })).status, 404);
  const opening = await fetch(upstream.url, { method: 'POST', body: '{"id":1,"method":"initialize"}' });
  const headers = { 'mcp-session-id': opening.headers.get('mcp-session-id') ?? '' };
  assert.equal((await call('1', headers)).status, 200);
  assert.equal((await fetch(upstream.url, { method: 'DELETE', headers })).status, 200);
  assert.equal((await call('1', headers)).status, 404);
});

test('a script writes, waits and breaks off, step by step', async () => {
  const gate = Promise.withResolvers<string>();
  upstream.setBehaviour(() => sse(['data: one', gate.promise, CUT]));
  const { body } = await fetch(upstream.url);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader?.read())?.value, 'data: one');
  gate.resolve(' and more');
  await assert.rejects(async () => {
    while ((await reader?.read())?.done === false);
  });
});
