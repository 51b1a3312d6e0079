/** `elicitgate wrap` as a client starts it: the official SDK's stdio client, and a server that knows nothing of it. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
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

describe('a client starts a wrapped server', () => {
  test('tools are listed, the first call gives a loopback link, the page takes the key, the client is told, and a restart needs no key', async (t) => {
    const data = dataFolder(t);
    const first = await start(t, data, command);
    assert.ok((await first.client.listTools()).tools.some(({ name }) => name === 'pid'));
    const link = await first.ask('pid');
    assert.match(link.url, /^http:\/\/127\.0\.0\.1:\d+\/connect\//);
    assert.equal((await submitPage(link.url, { KEY: key })).status, 200);
    assert.equal(await first.completed, link.elicitationId);
    const child = await first.call('pid');
    assert.match(readFileSync(`/proc/${child}/environ`, 'latin1'), new RegExp(`KEY=${key}`));
    assert.deepEqual(first.errors, [], 'nothing but messages came on standard output');
    await first.close();
    while (existsSync(`/proc/${child}`)) await new Promise((next) => { setImmediate(next); });

    const second = await start(t, data, command);
    assert.match(await second.call('pid'), /^\d+$/);
    const [folder = ''] = readdirSync(join(data, 'elicitgate/wrap'));
    assert.match(folder, /^needs-key-[0-9a-f]{12}$/);
    assert.equal(statSync(join(data, 'elicitgate/wrap', folder, 'elicitgate.key')).mode & 0o777, 0o600);
  });

  test('two clients wrap one command at once, each with a page of its own, and share what was given', async (t) => {
    const data = dataFolder(t);
    const [first, second] = [await start(t, data, command), await start(t, data, command)];
    const [one, other] = [await first.ask('pid'), await second.ask('pid')];
    assert.notEqual(new URL(one.url).port, new URL(other.url).port);
    assert.equal((await submitPage(one.url, { KEY: key })).status, 200);
    assert.match(await first.call('pid'), /^\d+$/);
    assert.match(await second.call('pid'), /^\d+$/);
  });

  test('a server at a URL gets the header that was given', async (t) => {
    const upstream = await startRecorder(mcpServer({ tools: { paid: () => text('paid') } }));
    t.after(() => upstream.close());
    const wrapped = await start(t, dataFolder(t), ['--header', 'X-API-Key', upstream.url]);
    const link = await wrapped.ask('paid');
    assert.equal((await submitPage(link.url, { 'X-API-Key': key })).status, 200);
    assert.equal(await wrapped.call('paid'), 'paid');
    assert.equal(upstream.requests.findLast((request) => request.body.includes('paid'))?.header('x-api-key'), key);
  });

  test('a server does not outlive a wrap that was killed', async (t) => {
    const wrapped = await start(t, dataFolder(t), command);
    const link = await wrapped.ask('pid');
    await submitPage(link.url, { KEY: key });
    const child = Number(await wrapped.call('pid'));
    process.kill(wrapped.pid, 'SIGKILL');
    while (existsSync(`/proc/${child}`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${child}/stat`, 'latin1'))) await new Promise((next) => { setImmediate(next); });
  });
});

test('a command line that says too little is answered with what is missing, and exit code 2', async () => {
  const said = async (...args: string[]) => {
    const { code, stderr, stdout } = await runElicitgate(['wrap', ...args]);
    return [code, stdout, stderr.split('\n')[0]];
  };
  assert.deepEqual(await said('--', 'npx', 'a-server'), [2, '', 'Say what the person is to give: --env NAME.']);
  assert.deepEqual(await said('--header', 'X-Key', '--', 'npx', 'a-server'), [2, '', 'A command takes variables: use --env NAME.']);
  assert.deepEqual(await said('--env', 'KEY', 'https://mcp.example.com/mcp'), [2, '', 'A server at a URL takes headers: use --header NAME.']);
  assert.deepEqual(await said('--env', '1KEY', '--', 'a'), [2, '', '“1KEY” is no name for --env.']);
  assert.match((await runElicitgate(['wrap', '--help'])).stdout, /claude_desktop_config\.json/);
});
