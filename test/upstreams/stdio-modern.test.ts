/** Programs of the modern era (2026-07-28), at the port: no handshake, no session. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { StdioUpstream } from '../../src/config/config.ts';
import { createStdioUpstream } from '../../src/upstreams/stdio.ts';
import type { UpstreamRequest } from '../../src/upstreams/upstream.ts';
import { configOf, fileOf } from '../config/load-text.ts';
import { signalGroup } from '../kit/signal-group.ts';
import { programPath } from '../kit/stdio-gateway.ts';

const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'm', version: '1' } };

function open(t: TestContext, mode: string) {
  const config = configOf(t, fileOf({ upstreams: `{ u: { transport: stdio, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(programPath)}, ${mode}] } }` }));
  const upstream = createStdioUpstream(config.upstreams['u'] as StdioUpstream, { report: () => undefined, now: Date.now, signalGroup });
  t.after(() => upstream.close());
  return (method: string, params: object, more: Partial<UpstreamRequest> = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      let status = 0;
      let body = '';
      upstream.send(
        { method: 'POST', headers: ['mcp-protocol-version', '2026-07-28'], body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'm', method, params: { ...params, _meta } })), ...more },
        {
          onResponseStart(_controller, code) { status = code; },
          onResponseData(_controller, chunk) { body += chunk.toString(); },
          onResponseEnd() { resolve({ status, body }); },
          onResponseError(_controller, error) { reject(error); },
        },
      );
    });
}

const text = (of: string): string => `{"jsonrpc":"2.0","id":"m","result":{"content":[{"type":"text","text":"${of}"}]}}`;

test('a program of the modern era is spoken to without a handshake, each person’s calls in a process of her own', async (t) => {
  const ask = open(t, 'modern');
  assert.match((await ask('server/discover', {}, { person: 'ada' })).body, /^\{"jsonrpc":"2\.0","id":"m","result":\{"resultType":"complete"/);
  const call = async (person: string, name: string, env: Record<string, string> = {}) => (await ask('tools/call', { name, arguments: {} }, { person, env })).body;
  assert.equal(await call('ada', 'count'), text('1'));
  assert.equal(await call('ada', 'count'), text('2'));
  assert.equal(await call('ben', 'count'), text('1'));
  assert.equal(await call('ada', 'opened'), text('undefined'));
  assert.equal(await call('ada', 'key', { KEY: 'a' }), text('a'));
  assert.equal(await call('ben', 'key', { KEY: 'b' }), text('b'));
});

test('an older program is a 400 with -32600 to a modern request', async (t) => {
  const ask = open(t, 'older');
  const answer = { status: 400, body: '{"jsonrpc":"2.0","id":"m","error":{"code":-32600,"message":"This server speaks an older revision of MCP: begin with initialize."}}' };
  assert.deepEqual(await ask('server/discover', {}, { person: 'ada' }), answer);
  assert.deepEqual(await ask('tools/list', {}, { person: 'ada' }), answer);
});
