/** A client on standard input and output, and the endpoint behind the bridge as it sees it. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { runBridge } from '../../src/operate/bridge.ts';
import { json, startRecorder, type Behaviour } from '../kit/recorder.ts';

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
  await runBridge({ proof: 'p', url: endpoint.url, input: Readable.from(lines()), write }, new AbortController().signal);
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
