/** A file that answers for an upstream which lets nobody in without a key. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, linkIn, provide, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { openPage, submitPage } from '../kit/proxy.ts';
import type { Behaviour } from '../kit/recorder.ts';
import { connectSdkClient } from '../kit/sdk-client.ts';

const initialize = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'as-in-the-file', version: '3' } };
const catalogue = `{
  "initialize": ${JSON.stringify(initialize)},
  "tools": [ {"name":"paid","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}} ],
  "prompts": [{"name":"greet"}]
}`;

/** A server that refuses everything that comes without the key. */
function locked(): Behaviour {
  const server = mcpServer();
  return (request) => (request.header('x-key') === key ? server(request) : { status: 401 });
}

async function start(t: TestContext, text = catalogue): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  writeFileSync(join(folder, 'catalogue.json'), text);
  return startGateway(t, { folder, upstream: locked(), with: 'catalogue: ./catalogue.json' });
}

const list = (method: string) => ({ jsonrpc: '2.0', id: 1, method });
const methodsSeen = ({ upstream }: RunningGateway): unknown[] => upstream.requests.map((request) => callOf(request)?.method ?? request.method);

test('without a key initialize, pings and lists are answered as the file says, digit for digit, and nothing goes upstream (P4, J3)', async (t) => {
  const gateway = await start(t);
  const client = await connect(gateway.url, { capabilities: urlMode });
  assert.deepEqual(JSON.parse(client.opened.text), { jsonrpc: '2.0', id: 'open', result: initialize });
  assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
  for (const [method, result] of [
    ['tools/list', '{"tools":[ {"name":"paid","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}}}} ]}'],
    ['resources/list', '{"resources":[]}'],
    ['resources/templates/list', '{"resourceTemplates":[]}'],
    ['prompts/list', '{"prompts":[{"name":"greet"}]}'],
    ['ping', '{}'],
  ] as const) assert.equal((await client.post(list(method))).text, `{"jsonrpc":"2.0","id":1,"result":${result}}`);
  assert.deepEqual(methodsSeen(gateway), []);
});

test('a client that asks for an older version is answered in it', async (t) => {
  const { url } = await start(t);
  for (const [asked, answered] of [['2024-11-05', '2024-11-05'], ['2025-11-25', '2025-06-18'], ['soon', '2025-06-18']] as const) {
    const { opened } = await connect(url, { protocolVersion: asked });
    assert.equal((JSON.parse(opened.text) as { result: typeof initialize }).result.protocolVersion, answered);
  }
});

test('once the person has a key the upstream itself answers, in a session that is opened for her; after she revoked it, the file does', async (t) => {
  const gateway = await start(t);
  const { url, proxy, upstream } = gateway;
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  assert.match((await client.post(list('tools/list'))).text, /"echo"/);
  assert.deepEqual(methodsSeen(gateway), ['initialize', 'notifications/initialized', 'tools/call', 'tools/list']);
  const account = `${proxy.origin}/account`;
  const csrf = /name="csrf" value="([^"]*)"/.exec((await openPage(account)).html)?.[1] ?? '';
  await fetch(account, { method: 'POST', redirect: 'manual', headers: { origin: proxy.origin, 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action: 'disconnect' }) });
  upstream.forget();
  assert.match((await client.post(list('tools/list'))).text, /9223372036854775807/);
  await upstream.request(({ method }) => method === 'DELETE');
  assert.deepEqual(upstream.requests.map((request) => [request.method, request.header('x-key')]), [['DELETE', undefined]]);
  const asked = await client.call('paid');
  assert.equal(asked.message.error?.code, -32042);
  await submitPage(linkIn(asked.text), { token: key });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
});

test('the SDK’s client goes from the file to the server without noticing, also one that opens no URLs', async (t) => {
  for (const takesUrls of [true, false]) {
    const { url } = await start(t);
    const { client, call, close } = await connectSdkClient(url, { takesUrls });
    assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['paid']);
    const question = await client.callTool({ name: 'paid', arguments: {} }).catch((error: unknown) => error);
    await submitPage(linkIn(JSON.stringify([question, (question as { data?: unknown }).data])), { token: key });
    assert.deepEqual((await call('paid', {})).content, [{ type: 'text', text: 'paid' }]);
    await close();
  }
});
