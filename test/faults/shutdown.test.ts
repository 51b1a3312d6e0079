/** SIGTERM to the real process: idle streams end at once, open calls may finish, nothing else holds it up (B14). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { key, keyCredential } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { startElicitgate, type Program } from '../kit/program.ts';
import { json, startRecorder, type Recorder, type Reply } from '../kit/recorder.ts';
import { ask, listen } from '../kit/streams.ts';

/** Far less than the drain time of 30 s, and enough for a busy machine. */
const promptlyMs = 5_000;

interface Served {
  readonly url: string;
  readonly admin: string;
  readonly database: string;
  readonly program: Program;
  readonly upstream: Recorder;
}

/** The proxy as its own process, before an upstream that answers calls of tools by this. */
async function serve(t: TestContext, call: () => Reply | Promise<Reply>, drain = '30s', closeAfter = '0s'): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const server = mcpServer();
  const upstream = await startRecorder((request) => (callOf(request)?.method === 'tools/call' ? call() : server(request)));
  t.after(() => upstream.close());
  const [port, adminPort] = [await freePort(), await freePort()];
  writeFileSync(
    join(folder, 'elicitgate.yaml'),
    `version: 1
server: { listen: "127.0.0.1:${port}", admin: "127.0.0.1:${adminPort}", drain: ${drain}, closeAfter: ${closeAfter} }
identity: { local: { user: ada } }
vault: { store: "sqlite:./elicitgate.db", keys: ["${generateKey()}"] }
${keyCredential}
upstreams: { main: { url: "${upstream.url}", rules: [{ tools: [paid], requires: [key] }] } }
`,
  );
  const program = startElicitgate(['serve', '-c', join(folder, 'elicitgate.yaml')], { cwd: folder });
  t.after(() => { program.signal('SIGTERM'); });
  await program.logs(/"serving"/);
  return { url: `http://127.0.0.1:${port}/mcp`, admin: `http://127.0.0.1:${adminPort}`, database: join(folder, 'elicitgate.db'), program, upstream };
}

const isCall = (request: Parameters<typeof callOf>[0]): boolean => callOf(request)?.method === 'tools/call';
const never = (): Promise<Reply> => new Promise(() => undefined);

async function endsPromptly(program: Program): Promise<void> {
  const since = performance.now();
  assert.equal(await program.end, 0);
  const took = performance.now() - since;
  assert.ok(took < promptlyMs, `it took ${Math.round(took)} ms`);
}

/** The listener is gone: a connection is refused, or reset when it was just being made. */
const notServed = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET';

describe('a process that is told to stop', { timeout: 60_000 }, () => {
  test('ends at once with exit code 0 when nothing is open but idle, silent and unfinished connections, and closes its database', async (t) => {
    const { url, program, database } = await serve(t, never);
    const { port, host } = new URL(url);
    const idle = connectSocket(Number(port), '127.0.0.1');
    idle.write(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`);
    await once(idle, 'data');
    const silent = connectSocket(Number(port), '127.0.0.1');
    const unfinished = connectSocket(Number(port), '127.0.0.1');
    unfinished.write('POST /mcp HT');
    await Promise.all([once(silent, 'connect'), once(unfinished, 'connect')]);
    for (const socket of [idle, silent, unfinished]) socket.on('error', () => undefined);
    assert.ok(existsSync(`${database}-wal`));
    program.signal('SIGTERM');
    await endsPromptly(program);
    assert.ok(existsSync(database));
    assert.ok(!existsSync(`${database}-wal`));
    assert.match(program.stderr(), /"msg":"closed"/);
  });

  test('is not ready at once, and serves new calls and streams until closeAfter is over, so that a balancer that polls loses none (B14)', async (t) => {
    const { url, admin, program } = await serve(t, () => json({ jsonrpc: '2.0', id: 1, result: { done: true } }), '30s', '1s');
    const before = await connect(url, { capabilities: urlMode });
    const stream = await listen(before);
    program.signal('SIGTERM');
    const readiness = async () => (await fetch(`${admin}/readyz`)).status;
    while ((await readiness()) === 200);
    assert.equal(await readiness(), 503);
    const client = await connect(url);
    assert.deepEqual((await (await ask(client, toolCall('free'))).over).end, 'whole');
    assert.equal((await stream.over).end, 'whole');
    await assert.rejects(connect(url), notServed);
    await endsPromptly(program);
  });

  test('ends idle streams at once, though a call is still open, and lets that call finish', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const { url, admin, program, upstream } = await serve(t, () => answer.promise);
    const clients = [await connect(url, { capabilities: urlMode }), await connect(url, { capabilities: urlMode })];
    const streams = await Promise.all(clients.map((client) => listen(client)));
    const [client] = clients;
    assert.ok(client);
    const open = ask(client, toolCall('free'));
    await upstream.request(isCall);
    program.signal('SIGTERM');
    for (const stream of streams) assert.equal((await stream.over).end, 'whole');
    await assert.rejects(connect(url), notServed);
    const ready = await fetch(`${admin}/readyz`);
    assert.equal(ready.status, 503);
    assert.deepEqual(await ready.json(), { status: 'closing' });
    assert.equal((await fetch(`${admin}/healthz`)).status, 200);
    answer.resolve(json({ jsonrpc: '2.0', id: 1, result: { done: true } }));
    const stream = await open;
    assert.equal(stream.headers.connection, 'close');
    assert.deepEqual(await stream.over, { text: '{"jsonrpc":"2.0","id":1,"result":{"done":true}}', end: 'whole' });
    await endsPromptly(program);
  });

  test('answers a request that comes on an open connection while another call is still open, and closes that connection', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const { url, program, upstream } = await serve(t, () => answer.promise);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => { agent.destroy(); });
    const ping = async (): Promise<IncomingMessage> => {
      const outgoing = httpRequest(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json', 'Mcp-Session-Id': client.session } });
      outgoing.end('{"jsonrpc":"2.0","id":1,"method":"ping"}');
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      incoming.resume();
      await once(incoming, 'end');
      return incoming;
    };
    const client = await connect(url, { capabilities: urlMode });
    const stream = await listen(client);
    assert.equal((await ping()).headers.connection, 'keep-alive');
    const open = ask(client, toolCall('free'));
    await upstream.request(isCall);
    program.signal('SIGTERM');
    await stream.over;
    const late = await ping();
    assert.equal(late.statusCode, 200);
    assert.equal(late.headers.connection, 'close');
    answer.resolve(json({ jsonrpc: '2.0', id: 1, result: {} }));
    assert.equal((await (await open).over).end, 'whole');
    await endsPromptly(program);
  });

  test('cuts a call that takes longer than the drain time, here and upstream, and ends with exit code 0', async (t) => {
    const { url, program, upstream } = await serve(t, never, '200ms');
    const client = await connect(url);
    const open = ask(client, toolCall('free'));
    const { aborted } = await upstream.request(isCall);
    program.signal('SIGTERM');
    await assert.rejects(open, { code: 'ECONNRESET' });
    await aborted;
    await endsPromptly(program);
  });

  test('does not cut an answer that has been written and is still on its way to a slow reader', async (t) => {
    const text = 'x'.repeat(16 * 1024 * 1024);
    const { url, program } = await serve(t, () => json({ jsonrpc: '2.0', id: 1, result: { text } }));
    const client = await connect(url, { capabilities: urlMode });
    const idle = await listen(client);
    // What is looked into is written in one piece, and at once.
    await provide(client, 'paid', { token: key });
    const stream = await ask(client, toolCall('paid'));
    stream.pause();
    program.signal('SIGTERM');
    await idle.over;
    stream.read();
    const { text: arrived, end } = await stream.over;
    assert.equal(end, 'whole');
    assert.equal(arrived.length, text.length + '{"jsonrpc":"2.0","id":1,"result":{"text":""}}'.length);
    await endsPromptly(program);
  });

  test('is not disturbed by being told again', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const { url, program, upstream } = await serve(t, () => answer.promise);
    const client = await connect(url, { capabilities: urlMode });
    const stream = await listen(client);
    const open = ask(client, toolCall('free'));
    await upstream.request(isCall);
    program.signal('SIGTERM');
    await stream.over;
    program.signal('SIGTERM');
    // The second signal has arrived when a request that was sent after it is refused or answered.
    await assert.rejects(connect(url), notServed);
    answer.resolve(json({ jsonrpc: '2.0', id: 1, result: {} }));
    assert.equal((await (await open).over).end, 'whole');
    await endsPromptly(program);
  });
});
