/** `elicitgate wrap` as a client starts it: the official SDK's stdio client, and a server that knows nothing of it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdioTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitationCompleteNotificationSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { mcpServer, text } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { runElicitgate } from '../kit/program.ts';
import { submitPage } from '../kit/proxy.ts';
import { startRecorder } from '../kit/recorder.ts';
import { programPath } from '../kit/stdio-gateway.ts';

const root = join(import.meta.dirname, '../..');
const key = planted('sk-wrapped-3b1d77e02f');
const command = ['--env', 'KEY', '--', process.execPath, programPath, 'needs-key'];

function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-wrap-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  return folder;
}

async function start(t: TestContext, data: string, args: readonly string[]) {
  const transport = new StdioClientTransport({ command: process.execPath, args: [join(root, 'src/main.ts'), 'wrap', ...args], env: { PATH: process.env['PATH'] ?? '', XDG_DATA_HOME: data }, stderr: 'pipe' });
  const client = new Client({ name: 'desktop', version: '1' }, { capabilities: { elicitation: { url: {} } } });
  const completed = Promise.withResolvers<string>();
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => { completed.resolve(params.elicitationId); });
  const errors: Error[] = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= client.close());
  t.after(close);
  const call = async (name: string): Promise<string> => ((await client.callTool({ name })).content as { text: string }[])[0]?.text ?? '';
  return {
    client,
    call,
    completed: completed.promise,
    errors,
    pid: transport.pid ?? 0,
    close,
    async ask(name: string) {
      const error: unknown = await call(name).then((answer) => assert.fail(answer), (cause: unknown) => cause);
      assert.ok(error instanceof UrlElicitationRequiredError, String(error));
      return error.elicitations[0] ?? assert.fail('no link');
    },
  };
}

async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await new Promise((next) => { setImmediate(next); });
}

describe('a client starts a wrapped server', { concurrency: 2 }, () => {
  test('tools are listed, a call gives a loopback link, the page takes the key, and every client of the same command has it, also after a restart', async (t) => {
    const data = dataFolder(t);
    const [first, second] = await Promise.all([start(t, data, command), start(t, data, command)]);
    assert.ok((await first.client.listTools()).tools.some(({ name }) => name === 'pid'));
    const [link, other] = await Promise.all([first.ask('pid'), second.ask('pid')]);
    const stranger = await fetch(new URL('/mcp', link.url), { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }, body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"another user","version":"1"}}}' });
    assert.equal(stranger.status, 401, 'who else reaches the port uses nothing of hers');
    assert.match(link.url, /^http:\/\/127\.0\.0\.1:\d+\/connect\//);
    assert.notEqual(new URL(link.url).port, new URL(other.url).port, 'clients at once do not collide');
    assert.equal((await submitPage(link.url, { KEY: key })).status, 200);
    assert.equal(await first.completed, link.elicitationId);
    const child = await first.call('pid');
    assert.match(readFileSync(`/proc/${child}/environ`, 'latin1'), new RegExp(`KEY=${key}`));
    assert.match(await second.call('pid'), /^\d+$/);
    assert.deepEqual(first.errors, [], 'nothing but messages came on standard output');
    const [folder = ''] = readdirSync(join(data, 'elicitgate/wrap'));
    assert.match(folder, /^stdio-program-[0-9a-f]{12}$/);
    assert.equal(statSync(join(data, 'elicitgate/wrap', folder, 'elicitgate.key')).mode & 0o777, 0o600);
    await first.close();
    await gone(Number(child));

    const again = await start(t, data, command);
    const kept = Number(await again.call('pid'));
    process.kill(again.pid, 'SIGKILL');
    await gone(kept);
  });

  test('a server at a URL that answers nobody without the header is listed from a catalogue, and gets the header that was given', async (t) => {
    const open = mcpServer({ tools: { paid: () => text('paid') } });
    const upstream = await startRecorder((request) => (request.header('x-api-key') === key ? open(request) : { status: 401 }));
    t.after(() => upstream.close());
    const data = dataFolder(t);
    const catalogue = join(data, 'catalogue.json');
    writeFileSync(catalogue, JSON.stringify({ initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'listed', version: '1' } }, tools: [{ name: 'paid', inputSchema: { type: 'object' } }] }));
    const wrapped = await start(t, data, ['--header', 'X-API-Key', '--catalogue', catalogue, upstream.url]);
    assert.deepEqual((await wrapped.client.listTools()).tools.map(({ name }) => name), ['paid']);
    const link = await wrapped.ask('paid');
    assert.equal((await submitPage(link.url, { 'X-API-Key': key })).status, 200);
    assert.equal(await wrapped.call('paid'), 'paid');
    assert.equal(upstream.requests.findLast((request) => request.body.includes('paid'))?.header('x-api-key'), key);
  });
});

test('the second generation of the official client gives its key in one call, in the era of 2026-07-28', async (t) => {
  const transport = new ModernStdioTransport({ command: process.execPath, args: [join(root, 'src/main.ts'), 'wrap', '--env', 'KEY', process.execPath, programPath, 'modern'], env: { PATH: process.env['PATH'] ?? '', XDG_DATA_HOME: dataFolder(t) }, stderr: 'ignore' });
  const client = new ModernClient({ name: 'second', version: '1' }, { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    assert.ok(params.mode === 'url');
    await submitPage(params.url, { KEY: key });
    return { action: 'accept' };
  });
  t.after(() => client.close());
  await client.connect(transport);
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  assert.deepEqual((await client.callTool({ name: 'check', arguments: {} })).content, [{ type: 'text', text: 'welcome' }]);
});

test('a command line that says too little is answered with what is missing, and exit code 2', async () => {
  const { code, stderr, stdout } = await runElicitgate(['wrap', 'npx', '-y', 'a-server']);
  assert.deepEqual([code, stdout, stderr.split('\n')[0]], [2, '', 'Say what the person is to give: --env NAME.'], 'the options of the command are its own, also without --');
});
