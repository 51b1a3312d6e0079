/** The upstream asks, too: sampling, roots, forms, progress. The official client 1.x in front of an unmodified server, and mcp-remote as a bridge. */
import assert from 'node:assert/strict';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { startEverything, type Everything } from '../kit/everything.ts';
import { connect, linkIn } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startProxy, submitPage, type RunningProxy } from '../kit/proxy.ts';
import { ask, openStream, sessionOf } from '../kit/streams.ts';

const key = planted('sk-both-ways-71c0e4d5');

const file = `
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [echo, trigger-sampling-request], requires: [key] }, { prompts: [simple-prompt], requires: [key] }, { resources: ["demo://resource/static/*"], requires: [key] }] } }`;

const capabilities = { sampling: {}, roots: {}, elicitation: {} } as const;

/** A host that answers whatever it is asked. */
function answering(): { readonly client: Client; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    asked.push(`sampling ${JSON.stringify(params.messages[0]?.content)}`);
    return { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled by the host' } };
  });
  client.setRequestHandler(ListRootsRequestSchema, () => {
    asked.push('roots');
    return { roots: [{ uri: 'file:///home/ada/project', name: 'project of Ada' }] };
  });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(`form ${params.message}`);
    return { action: 'accept', content: { name: 'Ada', check: true } };
  });
  return { client, asked };
}

const textOf = (result: unknown): string => JSON.stringify(result);

describe('what the upstream asks', () => {
  let everything: Everything;
  before(async () => { everything = await startEverything(); });
  after(() => everything.close());

  async function begin(t: TestContext): Promise<RunningProxy> {
    const proxy = await startProxy(file, { env: { UPSTREAM: everything.url } });
    t.after(() => proxy.close());
    return proxy;
  }

  async function connectTo(t: TestContext, proxy: RunningProxy) {
    const host = answering();
    await host.client.connect(new StreamableHTTPClientTransport(new URL(`${proxy.origin}/mcp`)));
    t.after(() => host.client.close());
    return host;
  }

  test('reaches the client in mid-call, and the answers go back: sampling with a key in the call, forms, roots', async (t) => {
    const proxy = await begin(t);
    const { client, asked } = await connectTo(t, proxy);
    const sample = () => client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'hello', maxTokens: 10 } });
    assert.equal((await submitPage(linkIn(textOf(await sample())), { token: key })).status, 200);
    assert.deepEqual(asked.filter((one) => one.startsWith('sampling')), []);
    assert.match(textOf(await sample()), /sampled by the host/);
    assert.match(asked.find((one) => one.startsWith('sampling')) ?? '', /hello/);
    assert.match(textOf(await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })), /Ada/);
    assert.ok(asked.some((one) => one.startsWith('form ')));
    assert.match(textOf(await client.callTool({ name: 'get-roots-list', arguments: {} })), /project of Ada/);
    assert.ok(asked.includes('roots'));
  });

  test('progress of a call reaches the one who asked for it, several calls at once', async (t) => {
    const { client } = await connectTo(t, await begin(t));
    const seen = await Promise.all([2, 3].map(async (steps) => {
      const progress: Progress[] = [];
      await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.1, steps } }, undefined, { onprogress: (one) => progress.push(one) });
      return progress.map(({ progress: done, total }) => [done, total]);
    }));
    assert.deepEqual(seen, [[[1, 2], [2, 2]], [[1, 3], [2, 3], [3, 3]]]);
  });

  test('an answer whose stream broke is resumed through the proxy by Last-Event-ID, once for each of two equal ids', async (t) => {
    const proxy = await begin(t);
    const client = await connect(`${proxy.origin}/mcp`, { capabilities: {} });
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const operation = (steps: number) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'trigger-long-running-operation', arguments: { duration: 1, steps }, _meta: { progressToken: 'p' } } });
    const streams = await Promise.all([4, 5].map((steps) => ask(client, operation(steps))));
    const lastIds = await Promise.all(streams.map(async (stream) => /^id: ?(.+)$/m.exec(await stream.until('"progress":1'))?.[1] ?? ''));
    for (const stream of streams) stream.close();
    // The server goes on without them, and keeps what it says; its store repeats what has been said by then.
    await client.post({ ...operation(7), id: 8 });
    const resumed = await Promise.all(lastIds.map((id) => openStream(client.url, { method: 'GET', headers: { Accept: 'text/event-stream', 'Last-Event-ID': id, ...sessionOf(client) } })));
    for (const [index, steps] of [4, 5].entries()) {
      const text = (await resumed[index]?.until('"result"')) ?? '';
      assert.match(text, new RegExp(`Steps: ${steps}\\.`));
      assert.match(text, /"id":7[,}]/);
      assert.ok(!text.includes('elicitgate-'), text);
      resumed[index]?.close();
    }
  });

  test('prompts and resources of a rule are errors with the link in them for a client without URL mode, and work afterwards', async (t) => {
    const { client } = await connectTo(t, await begin(t));
    const { resources } = await client.listResources();
    const uri = resources.find((one) => one.uri.startsWith('demo://resource/static/'))?.uri ?? '';
    const said = await client.readResource({ uri }).then(() => '', (error: unknown) => String(error));
    assert.match(said, /1401.*needs your Key credential to read/s);
    await assert.rejects(client.getPrompt({ name: 'simple-prompt' }), /needs your Key credential to use “simple-prompt”/);
    await submitPage(linkIn(said), { token: key });
    assert.equal((await client.readResource({ uri })).contents.length, 1);
    assert.equal((await client.getPrompt({ name: 'simple-prompt' })).messages.length, 1);
  });

  test('mcp-remote bridges a client over stdio: lists, questions in text, and calls with the key (C3)', async (t) => {
    const proxy = await begin(t);
    const manifest = findPackageJSON('mcp-remote', import.meta.url);
    assert.ok(manifest !== undefined);
    const host = answering();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(dirname(manifest), 'dist/proxy.js'), `${proxy.origin}/mcp`, '--allow-http', '--transport', 'http-only'],
      env: { PATH: process.env['PATH'] ?? '', HOME: proxy.folder, MCP_REMOTE_CONFIG_DIR: join(proxy.folder, 'mcp-remote') },
      stderr: 'ignore',
    });
    await host.client.connect(transport);
    t.after(() => host.client.close());
    const { tools } = await host.client.listTools();
    assert.ok(tools.some(({ name }) => name === 'echo'));
    const echo = () => host.client.callTool({ name: 'echo', arguments: { message: 'through a bridge' } });
    await submitPage(linkIn(textOf(await echo())), { token: key });
    assert.match(textOf(await echo()), /through a bridge/);
    const asked = proxy.audit.find(({ audit }) => audit === 'asked');
    assert.match(String(asked?.['clientName']), /^host \(via mcp-remote /);
  });
});
