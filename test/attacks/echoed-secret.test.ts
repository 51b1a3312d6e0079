/**
 * Attack A10: the secret is read back through the upstream, which echoes it in answers, errors and
 * notifications. The client gets `[redacted]`, and no log, audit line or file of ours spells it (A18, A19).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { keyCredential, startGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text, type McpServerOptions, type Tool } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { startProxy } from '../kit/proxy.ts';
import { json, sse, startRecorder, type RecordedRequest } from '../kit/recorder.ts';

const canary = planted('sk-canary/4f9d+2c7b81==');

/** The ways in which an echo may spell it. */
const spellings = [
  canary,
  encodeURIComponent(canary),
  encodeURIComponent(canary).toLowerCase(),
  percentEncoded(canary),
  Buffer.from(canary).toString('hex'),
  JSON.stringify(canary).slice(1, -1).replaceAll('/', '\\/'),
  Buffer.from(canary).toString('base64').replace(/=+$/, '').slice(0, -1),
  Buffer.from(`a${canary}`).toString('base64').slice(2, -4),
  Buffer.from(`ab${canary}`).toString('base64url').slice(3, -4),
  Buffer.from(canary).toString('base64url').slice(0, -1),
];

function percentEncoded(value: string): string {
  return value.replace(/[^a-z0-9]/gi, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function assertClean(where: string, said: string): void {
  for (const spelling of spellings) assert.equal(said.includes(spelling), false, `${where} says ${spelling}: ${said.slice(0, 2_000)}`);
}

/** What arrived in the header, spelled in every way. */
const echo: Tool = (_call, request) => {
  const arrived = request.header('x-key') ?? 'nothing';
  const said = [arrived, encodeURIComponent(arrived), encodeURIComponent(arrived).toLowerCase(), percentEncoded(arrived), Buffer.from(arrived).toString('hex'), ...['', 'a', 'ab'].flatMap((before) => (['base64', 'base64url'] as const).map((alphabet) => Buffer.from(`${before}${arrived} and more`).toString(alphabet)))];
  return { ...(text(said.join('\n')) as object), structuredContent: { [arrived]: said, nested: JSON.stringify({ said, deeper: JSON.stringify({ [arrived]: said }) }) } };
};

const answers: readonly McpServerOptions[] = [{}, { answers: 'sse' }, { encoding: 'gzip' }, { answers: 'sse', encoding: 'gzip' }, { encoding: 'br' }];

for (const answer of answers) {
  test(`what an upstream echoes comes back scrubbed and whole: ${JSON.stringify(answer)} (A10, A18, A19)`, async (t) => {
    const { url, proxy } = await startGateway(t, { upstream: { ...answer, tools: { paid: echo } } });
    const client = await connect(url, { capabilities: urlMode });
    await provide(client, 'paid', { token: canary });
    const echoed = await client.call('paid');
    assertClean('the answer', echoed.text);
    const content = echoed.message.result?.content?.[0]?.text.split('\n') ?? [];
    assert.deepEqual(content.slice(0, 5), Array.from({ length: 5 }, () => '[redacted]'));
    for (const line of content.slice(5)) assert.match(line, /\[redacted\]/);
    assertClean('the log', proxy.log.join(''));
    assertClean('the audit trail', JSON.stringify(proxy.audit));
    for (const file of readdirSync(proxy.folder)) assertClean(file, readFileSync(join(proxy.folder, file), 'latin1'));
  });
}

test('errors of the upstream are scrubbed, with status 200 and with 4xx (A10)', async (t) => {
  const server = mcpServer();
  const fail = (status: number) => (request: RecordedRequest) =>
    callOf(request)?.method === 'tools/call' && request.header('x-key') !== undefined
      ? { ...json({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: `bad key ${canary}`, data: { key: canary } } }), status }
      : server(request);
  const { url, upstream } = await startGateway(t, { upstream: server });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: canary });
  for (const status of [200, 400, 422]) {
    upstream.setBehaviour(fail(status));
    const answer = await client.call('paid');
    assertClean(`status ${status}`, answer.text);
    assert.match(answer.text, /bad key \[redacted\]/);
  }
});

test('notifications before the result are scrubbed, cut anywhere and in any order of their lines (A10)', async (t) => {
  const server = mcpServer();
  const { url, upstream } = await startGateway(t, { upstream: server });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: canary });
  const stream = `id: ${canary}\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${canary}"}}\n\n: ${canary}\n\ndata: {"jsonrpc":"2.0","id":1,\ndata: "result":{"content":[{"type":"text","text":"\\u0073${canary.slice(1)}"}]}}\n\n`;
  upstream.setBehaviour((request) => (callOf(request)?.method === 'tools/call' ? sse(Array.from(Buffer.from(stream), (byte) => Buffer.of(byte))) : server(request)));
  const answer = await client.call('paid');
  assertClean('the stream', answer.text);
  assert.equal(answer.text, stream.replaceAll(canary, '[redacted]').replace(`\\u0073${canary.slice(1)}`, '[redacted]'));
});

test('a tool that needs no key does not tell what another one was sent, also after a restart (A10)', async (t) => {
  const upstream = await startRecorder(mcpServer({ tools: { free: () => text(`remembered: ${canary}`) } }));
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(async () => {
    await upstream.close();
    rmSync(folder, { recursive: true });
  });
  const options = { folder, key: generateKey() };
  const file = `${keyCredential}\nupstreams: { main: { url: "${upstream.url}", rules: [{ tools: [paid], requires: [key] }] } }`;

  /** A process of its own life on the same database. */
  const process = (name: string, act: (url: string) => Promise<void>) =>
    t.test(name, async (inner) => {
      const proxy = await startProxy(file, options);
      inner.after(() => proxy.close());
      await act(`${proxy.origin}/mcp`);
    });

  await process('in the process that sent it', async (url) => {
    const client = await connect(url, { capabilities: urlMode });
    assert.match((await client.call('free')).text, /remembered: sk-canary/, 'nobody’s secret yet');
    await provide(client, 'paid', { token: canary });
    await client.call('paid');
    assert.match((await client.call('free')).text, /remembered: \[redacted\]/);
  });
  await process('in the next process', async (url) => {
    const client = await connect(url);
    assert.match((await client.call('free')).text, /remembered: \[redacted\]/);
  });
});
