/** Answers to a POST as event streams: when bytes leave, how they are cut, what is scrubbed on the way, and how a stream fails. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createParser } from 'eventsource-parser';
import { key, startGateway, type GatewaySetup, type RunningGateway } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { sse, type Reply, type Step } from '../kit/recorder.ts';
import { ask, liveBody } from '../kit/streams.ts';

const comment = ': \n\n';

/** An upstream that answers every call of a tool by this, and everything else as usual. */
function answering(t: TestContext, reply: () => Reply | Promise<Reply>, setup: Omit<GatewaySetup, 'upstream'> = {}): Promise<RunningGateway> {
  const server = mcpServer({ sessions: false });
  return startGateway(t, { ...setup, upstream: (request) => (callOf(request)?.method === 'tools/call' ? reply() : server(request)) });
}

function bytewise(text: string | Buffer): Step[] {
  return [...Buffer.from(text)].map((byte) => Buffer.of(byte));
}

/** What a client's parser makes of it. */
function dataOf(text: string): string[] {
  const data: string[] = [];
  createParser({ onEvent: (event) => data.push(event.data) }).feed(text);
  return data;
}

/** An event of more than 64 KiB leaves in pieces; of a shorter one nothing leaves before its end. */
const long = ' '.repeat(65_536);
const call = (gateway: RunningGateway, tool = 'free') => ask({ url: gateway.url, session: undefined }, toolCall(tool));

describe('an answer in events', { timeout: 30_000 }, () => {
  test('shows an event at once, though the upstream says nothing more until it is answered (S1)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    const stream = await call(gateway);
    const question = 'event: message\ndata: {"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}\n\n';
    live.write(question);
    assert.equal(await stream.until('createMessage'), question);
    const answer = await ask({ url: gateway.url, session: undefined }, { jsonrpc: '2.0', id: 7, result: {} });
    assert.equal(answer.status, 202);
    live.write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    live.end();
    assert.deepEqual(await stream.over, { text: `${question}data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n`, end: 'whole' });
  });

  test('begins before the first event, with headers that no proxy on the way buffers on (S2)', async (t) => {
    const gateway = await answering(t, () => sse(liveBody().body, { 'set-cookie': 'a=b', 'cache-control': 'public' }));
    const stream = await call(gateway);
    assert.equal(stream.status, 200);
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.headers['x-accel-buffering'], 'no');
    assert.equal(stream.headers['cache-control'], 'no-cache, no-transform');
    assert.equal(stream.headers['set-cookie'], undefined);
  });

  test('carries comments in a silence of the upstream, but none inside an event (S3, S5)', async (t) => {
    const live = liveBody();
    const bodies = [live, liveBody()];
    const gateway = await answering(t, () => sse(bodies.shift()?.body ?? ''));
    const stream = await call(gateway);
    gateway.proxy.pass(15_000);
    await stream.until(comment);
    live.write(`data: {"jsonrpc":"2.0",${long}`);
    await stream.until('"2.0",');
    // The heartbeat of another stream shows that this one's has passed as well.
    const other = await call(gateway);
    gateway.proxy.pass(15_000);
    await other.until(comment);
    live.write('"id":1,"result":{}}\n\n');
    live.end();
    assert.equal((await stream.over).text, `${comment}data: {"jsonrpc":"2.0",${long}"id":1,"result":{}}\n\n`);
  });

  const shapes: readonly [string, string][] = [
    ['LF', 'id: 1\nevent: message\ndata: {"a":"ü€😀"}\n\n: note\n\nretry: 100\n\ndata:x\n\n'],
    ['CRLF', 'id: 1\r\nevent: message\r\ndata: {"a":"ü€😀"}\r\n\r\n: note\r\n\r\nretry: 100\r\n\r\ndata:x\r\n\r\n'],
    ['CR', 'id: 1\revent: message\rdata: {"a":"ü€😀"}\r\r: note\r\rretry: 100\r\rdata:x\r\r'],
    ['several data lines, data before event, an empty priming event', 'id: 0\ndata: \n\ndata: {"a":\ndata: "ü"}\nevent: message\n\ndata\n\n'],
  ];
  for (const [name, text] of shapes) {
    test(`arrives byte for byte, also in chunks of one byte: ${name} (S4)`, async (t) => {
      const gateway = await answering(t, () => sse(bytewise(text)));
      assert.deepEqual(await (await call(gateway)).over, { text, end: 'whole' });
    });
    test(`arrives byte for byte when every event is looked into: ${name} (S4, A10)`, async (t) => {
      const gateway = await answering(t, () => sse(bytewise(text)));
      await provide(await connect(gateway.url), 'paid', { token: key });
      assert.deepEqual(await (await call(gateway, 'paid')).over, { text, end: 'whole' });
    });
  }

  for (const [name, steps, headers] of [
    ['in chunks of one byte', bytewise, {}],
    ['compressed, in chunks of one byte', (text: string) => bytewise(gzipSync(text)), { 'content-encoding': 'gzip' }],
  ] as const) {
    test(`is scrubbed event by event: ${name} (A10)`, async (t) => {
      const said = [
        `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"got ${key}"}}\n\n`,
        `id: ${key}\r\nevent: message\r\ndata: {"jsonrpc":"2.0","id":1,\r\ndata: "result":{"content":[{"type":"text","text":"${key}${key}"}]}}\r\n\r\n`,
        `: ${key}\n\n`,
      ].join('');
      const gateway = await answering(t, () => sse(steps(said), headers));
      await provide(await connect(gateway.url), 'paid', { token: key });
      assert.deepEqual(await (await call(gateway, 'paid')).over, { text: said.replaceAll(key, '[redacted]'), end: 'whole' });
    });
  }

  test('shows a scrubbed event at once, before the next has begun (S1, A10)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    await provide(await connect(gateway.url), 'paid', { token: key });
    const stream = await call(gateway, 'paid');
    live.write(`data: {"n":"${key.slice(0, 10)}`, `${key.slice(10)}"}\n\nda`);
    assert.equal(await stream.until('}\n\n'), 'data: {"n":"[redacted]"}\n\n');
  });

  test('carries an event of 10 MB, scrubbed or not', async (t) => {
    const text = `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${'é'.repeat(5 * 1024 * 1024)}"}]}}\n\n`;
    const gateway = await answering(t, () => sse(text));
    await provide(await connect(gateway.url), 'paid', { token: key });
    for (const tool of ['free', 'paid']) {
      const { text: arrived, end } = await (await call(gateway, tool)).over;
      assert.equal(end, 'whole');
      assert.ok(arrived === text, `${arrived.length} characters of ${text.length}`);
    }
  });
});

describe('an answer in events that fails', { timeout: 30_000 }, () => {
  const broken = '{"jsonrpc":"2.0","id":"q-1","error":{"code":1502,"message":"The server behind this proxy cannot be reached or gave no usable answer; its operator can see why in the log."}}';
  const asked = { ...toolCall('free'), id: 'q-1' };

  test('between two events ends with the error, under the id of the request (B4)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    const stream = await ask({ url: gateway.url, session: undefined }, asked);
    live.write('id: 9\ndata: {"n":1}\n\n');
    live.cut();
    assert.deepEqual(await stream.over, { text: `id: 9\ndata: {"n":1}\n\nevent: message\ndata: ${broken}\n\n`, end: 'whole' });
  });

  test('before its first event ends with the error', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    const stream = await ask({ url: gateway.url, session: undefined }, asked);
    live.cut();
    assert.deepEqual(dataOf((await stream.over).text), [broken]);
  });

  test('inside an event is cut, because an error would become part of that event (B4)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    const stream = await ask({ url: gateway.url, session: undefined }, asked);
    live.write(`data: {"n":1}\n\ndata: ${long}{"ha`);
    await stream.until('{"ha');
    live.cut();
    assert.deepEqual(await stream.over, { text: `data: {"n":1}\n\ndata: ${long}{"ha`, end: 'cut' });
  });

  test('inside an event of which nothing has left ends with the error (B4)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    const stream = await ask({ url: gateway.url, session: undefined }, asked);
    live.write('data: {"n":1}\n\ndata: {"ha');
    await stream.until('{"n":1}');
    live.cut();
    assert.deepEqual(await stream.over, { text: `data: {"n":1}\n\nevent: message\ndata: ${broken}\n\n`, end: 'whole' });
  });

  test('inside an event that is looked into ends with the error, because nothing of that event has left (B4)', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body));
    await provide(await connect(gateway.url), 'paid', { token: key });
    const stream = await ask({ url: gateway.url, session: undefined }, { ...toolCall('paid'), id: 'q-1' });
    live.write('data: {"n":1}\n\ndata: {"ha');
    await stream.until('{"n":1}');
    live.cut();
    assert.deepEqual(await stream.over, { text: `data: {"n":1}\n\nevent: message\ndata: ${broken}\n\n`, end: 'whole' });
  });

  test('because the upstream stands still for longer than its timeout ends with error 1504', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => sse(live.body), { with: 'timeout: 60s' });
    const stream = await call(gateway);
    live.write('data: {"n":1}\n\n');
    await stream.until('{"n":1}');
    gateway.proxy.pass(50_000);
    live.write('data: {"n":2}\n\n');
    await stream.until('{"n":2}');
    gateway.proxy.pass(50_000);
    live.write('data: {"n":3}\n\n');
    await stream.until('{"n":3}');
    gateway.proxy.pass(60_001);
    const { text, end } = await stream.over;
    assert.equal(end, 'whole');
    assert.match(text, /data: \{"jsonrpc":"2\.0","id":1,"error":\{"code":1504,"message":"The server behind this proxy did not answer in time\."\}\}\n\n$/);
  });

  test('because it cannot be decoded ends with error 1502', async (t) => {
    const gateway = await answering(t, () => sse([Buffer.from('this is not gzip')], { 'content-encoding': 'gzip' }));
    assert.match((await (await call(gateway)).over).text, /"code":1502/);
  });

  test('because its compressed bytes stop too early ends with error 1502', async (t) => {
    const packed = gzipSync('data: {"n":1}\n\n');
    const gateway = await answering(t, () => sse([packed.subarray(0, packed.length - 9)], { 'content-encoding': 'gzip' }));
    assert.match((await (await call(gateway)).over).text, /"code":1502/);
  });
});

describe('an answer in JSON that fails', { timeout: 30_000 }, () => {
  const jsonOf = (body: Reply['body']): Reply => ({ headers: { 'content-type': 'application/json' }, ...(body === undefined ? {} : { body }) });

  for (const tool of ['free', 'paid']) {
    test(`in mid-answer is error 1502 with status 200: ${tool}`, async (t) => {
      const live = liveBody();
      const gateway = await answering(t, () => jsonOf(live.body));
      await provide(await connect(gateway.url), 'paid', { token: key });
      live.write('{"jsonrpc":"2.0","id":1,"result":{"content":[');
      live.cut();
      const stream = await call(gateway, tool);
      const { text, end } = await stream.over;
      assert.equal(stream.status, 200);
      assert.equal(end, 'whole');
      assert.equal((JSON.parse(text) as { error: { code: number } }).error.code, 1502);
    });
  }

  test('after more than is held back is cut, so that nobody takes it for whole', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, () => jsonOf(live.body));
    live.write(`{"jsonrpc":"2.0","id":1,"result":{"text":"${'x'.repeat(512 * 1024)}`);
    const stream = await call(gateway);
    await stream.until('xxxx');
    live.cut();
    assert.equal((await stream.over).end, 'cut');
  });

  test('with bytes that Node would not write again in its media type is error 1502, and the proxy lives on', async (t) => {
    const gateway = await answering(t, () => ({ headers: { 'content-type': Buffer.from('application/json; x="€"').toString('latin1') }, body: '{}' }));
    assert.match((await (await call(gateway)).over).text, /"code":1502/);
    assert.equal((await ask({ url: gateway.url, session: undefined }, { jsonrpc: '2.0', id: 1, method: 'ping' })).status, 200);
  });
});

describe('initialize answered in events', { timeout: 30_000 }, () => {
  const priming = 'id: 0\ndata: \n\n';
  const note = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}\n\n';
  const result = 'id: 1\nevent: message\ndata: {"jsonrpc":"2.0","id":"open","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}\n\n';

  for (const [name, cut] of [['whole', (text: string) => [text]], ['byte by byte', bytewise]] as const) {
    test(`keeps priming events and notifications before the result, and gives the session: ${name} (S4)`, async (t) => {
      const gateway = await startGateway(t, { upstream: () => sse(cut(priming + note + result), { 'mcp-session-id': 'theirs' }) });
      const client = await connect(gateway.url);
      assert.equal(client.opened.status, 200);
      assert.equal(client.opened.text, priming + note + result);
      assert.ok(client.session !== undefined && client.session !== 'theirs');
    });
  }

  test('goes on after the result, and every later event arrives', async (t) => {
    const live = liveBody();
    const gateway = await startGateway(t, { upstream: () => sse(live.body) });
    const opening = ask({ url: gateway.url, session: undefined }, { jsonrpc: '2.0', id: 'open', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: urlMode, clientInfo: { name: 'a', version: '1' } } });
    live.write(priming, result, 'data: {"late":1}\n\nda');
    const stream = await opening;
    assert.equal(typeof stream.headers['mcp-session-id'], 'string');
    await stream.until('"late":1}\n\n');
    live.write('ta: {"later":2}\n\n');
    live.end();
    assert.deepEqual(await stream.over, { text: `${priming}${result}data: {"late":1}\n\ndata: {"later":2}\n\n`, end: 'whole' });
  });

  test('gives no session with an error, and none when it ends without a result', async (t) => {
    for (const said of ['data: {"jsonrpc":"2.0","id":"open","error":{"code":-32602,"message":"no"}}\n\n', priming]) {
      const gateway = await startGateway(t, { upstream: () => sse(said, { 'mcp-session-id': 'theirs' }) });
      const client = await connect(gateway.url, { capabilities: urlMode });
      assert.equal(client.session, undefined);
      assert.equal(client.opened.text, said);
    }
  });

  test('that dies before the result is error 1502 with status 200 and no session', async (t) => {
    const live = liveBody();
    live.write(priming, note);
    live.cut();
    const gateway = await startGateway(t, { upstream: () => sse(live.body, { 'mcp-session-id': 'theirs' }) });
    const client = await connect(gateway.url, { capabilities: urlMode });
    assert.equal(client.opened.status, 200);
    assert.equal(client.opened.message.error?.code, 1502);
    assert.equal(client.session, undefined);
  });
});
