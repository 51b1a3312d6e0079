/** A secret that becomes known while an answer is on its way, or was sent before this process began, is scrubbed all the same. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, sendForHead, toolCall, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text } from '../kit/mcp-server.ts';
import { sse, startRecorder, type Reply, type Step } from '../kit/recorder.ts';

const otherKey = 'other-canary-77aa88bb';

function slowCall(client: McpClient) {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '' };
  return sendForHead(client.url, { headers, body: JSON.stringify(toolCall('slow')) });
}

/** The tool `slow` answers as `reply` says, after `open` was called. */
function withSlowTool(reply: (gate: Promise<string>) => Reply) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const server = mcpServer();
  return { open: resolve, behaviour: (request: Parameters<typeof server>[0]) => (callOf(request)?.params?.name === 'slow' ? reply(promise) : server(request)) };
}

test('an event stream that began before the key was given is scrubbed of it from then on (A10)', async (t) => {
  const slow = withSlowTool((gate) => sse((function* (): Generator<Step> { yield ': begun\n\n'; yield gate; })()));
  const { url } = await startGateway(t, { upstream: slow.behaviour });
  const client = await connect(url, { capabilities: urlMode });
  const answer = await slowCall(client);
  await provide(client, 'paid', { token: key });
  await client.call('paid');
  slow.open(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"?key=${key}"}}\n\n`);
  const received = (await answer.toArray()).join('');
  assert.match(received, /\?key=\[redacted\]/);
  assert.ok(!received.includes(key));
});

test('a JSON answer that began before the key was given is scrubbed of it (A10)', async (t) => {
  const slow = withSlowTool((gate) => ({ headers: { 'content-type': 'application/json' }, body: [`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${'.'.repeat(300_000)}`, gate] }));
  const { url } = await startGateway(t, { upstream: slow.behaviour });
  const client = await connect(url, { capabilities: urlMode });
  const answer = await slowCall(client);
  await provide(client, 'paid', { token: key });
  await client.call('paid');
  slow.open(`key ${key}"}]}}`);
  const received = (await answer.toArray()).join('');
  assert.ok(received.endsWith('...key [redacted]"}]}}'));
});

test('after a restart everything that is stored for a person is scrubbed, whatever the first call needs (A10)', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const setup = {
    folder,
    key: generateKey(),
    file: `
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token }], inject: { headers: { X-Key: "{token}" } } }
  other: { kind: apiKey, title: Other, fields: [{ name: token }], inject: { headers: { X-Other: "{token}" } } }
upstreams: { main: { url: "http://127.0.0.1:9/mcp", rules: [{ tools: [paid], requires: [key] }, { tools: [more], requires: [other] }] } }`,
  };
  const history = (): unknown => text(`history ${key} ${otherKey}`);
  const server = mcpServer({ tools: { paid: history, more: history, free: history } });
  const withUrl = (url: string): string => setup.file.replace('http://127.0.0.1:9/mcp', url);
  const upstream = await startRecorder(server);
  t.after(() => upstream.close());
  const first = await startGateway(t, { ...setup, file: withUrl(upstream.url) });
  const client = await connect(first.url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  await provide(client, 'more', { token: otherKey });
  await first.proxy.close();
  for (const tool of ['paid', 'free']) {
    const second = await startGateway(t, { ...setup, file: withUrl(upstream.url) });
    const answer = await (await connect(second.url, { capabilities: urlMode })).call(tool);
    assert.equal(answer.message.result?.content?.[0]?.text, 'history [redacted] [redacted]', tool);
    await second.proxy.close();
  }
});
