/** A client on standard input and output, and the endpoint behind the bridge as it sees it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import { runBridge } from '../../src/operate/bridge.ts';
import { json, startRecorder, type Behaviour } from '../kit/recorder.ts';

/** An endpoint that takes a request and never answers it. */
async function hanging() {
  const [started, closed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const server = createServer((_request, answer) => {
    answer.once('close', () => {
      closed.resolve(undefined);
      server.close();
    });
    started.resolve(undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, started: started.promise, closed: closed.promise };
}

/** Sends messages one after the other, and closes. @returns what the client read */
async function bridged(behaviour: Behaviour, messages: readonly object[]) {
  const endpoint = await startRecorder(behaviour);
  const written: string[] = [];
  const answered = Promise.withResolvers<undefined>();
  async function* lines() {
    for (const message of messages) yield `${JSON.stringify(message)}\n`;
    await answered.promise;
  }
  const write = (line: string): void => {
    written.push(line);
    if ((JSON.parse(line) as { id?: unknown }).id === 'last') answered.resolve(undefined);
  };
  await runBridge({ endpoint: { url: endpoint.url, proof: 'p' }, input: Readable.from(lines()), write }, new AbortController().signal);
  await endpoint.close();
  return { written: written.map((line) => JSON.parse(line) as unknown), requests: endpoint.requests };
}

const answering: Behaviour = (request) => json({ jsonrpc: '2.0', id: (JSON.parse(String(request.body)) as { id?: unknown }).id, result: {} });
const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

test('a modern request gets the headers that repeat its body, encoded where a header cannot hold it', async () => {
  const { requests } = await bridged(answering, [{ jsonrpc: '2.0', id: 'last', method: 'tools/call', params: { name: 'größe', arguments: {}, _meta } }]);
  const [{ header } = assert.fail('nothing arrived')] = requests;
  assert.deepEqual(['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'].map((name) => header(name)), ['2026-07-28', 'tools/call', '=?base64?Z3LDtsOfZQ==?=', undefined]);
});

test('a notification that is refused is not answered', async () => {
  const refusing: Behaviour = (request) => (request.body.includes('"id"') ? answering(request) : { status: 400, headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}' });
  const { written } = await bridged(refusing, [{ jsonrpc: '2.0', method: 'notifications/x' }, { jsonrpc: '2.0', id: 'last', method: 'ping' }]);
  assert.deepEqual(written, [{ jsonrpc: '2.0', id: 'last', result: {} }]);
});

test('a modern request that is cancelled is closed, and nothing is said of it', async () => {
  const { endpoint, started, closed } = await hanging();
  const written: string[] = [];
  const input = new PassThrough();
  const over = runBridge({ endpoint: { url: endpoint, proof: 'p' }, input, write: (line) => written.push(line) }, new AbortController().signal);
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'hang', _meta } })}\n`);
  await started;
  input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })}\n`);
  await closed;
  input.end();
  await over;
  assert.deepEqual(written, []);
});
