/** Clients that go away at every moment: what runs upstream goes on or ends as it should, and nothing is left behind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { queryObjects } from 'node:v8';
import { gzipSync } from 'node:zlib';
import { Call } from '../../src/gateway/call.ts';
import { ClientStream } from '../../src/gateway/client-stream.ts';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { json, sse, type RecordedRequest, type Reply } from '../kit/recorder.ts';
import { ask, listen, liveBody } from '../kit/streams.ts';

const rounds = 40;

/** An upstream that answers GETs and calls of tools by these, and everything else as usual. */
function answering(t: TestContext, { get, call }: { readonly get?: () => Reply; readonly call?: (request: RecordedRequest) => Reply | Promise<Reply> }): Promise<RunningGateway> {
  const server = mcpServer();
  return startGateway(t, {
    upstream: (request) => {
      if (request.method === 'GET' && get !== undefined) return get();
      if (callOf(request)?.method === 'tools/call' && call !== undefined) return call(request);
      return server(request);
    },
  });
}

/**
 * Whatever still refers to a request or a stream keeps it alive through a full garbage collection: a timer, a
 * listener, a subscription, a map. The parsers of both sides and the step that waited last keep the last that they
 * have seen, but not more: as many after 160 rounds as after 40.
 */
function assertNothingIsLeft(): void {
  // Relays and server streams hold their call.
  for (const kind of [Call, ClientStream]) {
    const count = queryObjects(kind, { format: 'count' });
    assert.ok(count <= 3, `${count} × ${kind.name} after ${rounds} rounds`);
  }
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

/** Writes a request's head and body and hangs up in the same breath. */
async function shoutAndLeave({ url, session }: McpClient, method: 'GET' | 'POST', message?: object): Promise<void> {
  const { port, host } = new URL(url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const body = message === undefined ? '' : JSON.stringify(message);
  const headers = { Host: host, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', 'Content-Length': String(body.length), 'Mcp-Session-Id': session ?? '' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
  await once(socket, 'close');
}

describe('a client that hangs up', { timeout: 30_000 }, () => {
  for (const [name, reply] of [
    ['JSON', json({}).headers],
    ['events', sse('').headers],
  ] as const) {
    test(`leaves a legacy call running upstream to its end: ${name}`, async (t) => {
      const live = liveBody();
      const gateway = await answering(t, { call: () => ({ headers: reply ?? {}, body: live.body }) });
      const client = await connect(gateway.url);
      live.write(`data: ${'x'.repeat(512 * 1024)}\n\n`);
      const stream = await ask(client, toolCall('free'));
      await stream.until('xxx');
      const { aborted, answered } = await gateway.upstream.request((request) => callOf(request)?.method === 'tools/call');
      stream.close();
      // More than all buffers on the way hold: somebody has to read it.
      for (let at = 0; at < 64; at += 1) live.write('x'.repeat(256 * 1024));
      live.end();
      assert.equal(await Promise.race([answered.then(() => 'answered'), aborted.then(() => 'aborted')]), 'answered');
    });
  }

  test('before its call is answered leaves it running upstream', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const gateway = await answering(t, { call: () => answer.promise });
    const client = await connect(gateway.url);
    await shoutAndLeave(client, 'POST', toolCall('free'));
    const { aborted, answered } = await gateway.upstream.request((request) => callOf(request)?.method === 'tools/call');
    answer.resolve(json({ jsonrpc: '2.0', id: 1, result: {} }));
    assert.equal(await Promise.race([answered.then(() => 'answered'), aborted.then(() => 'aborted')]), 'answered');
  });

  test('while it reads nothing lets the upstream go on', async (t) => {
    const live = liveBody();
    const gateway = await answering(t, { call: () => sse(live.body) });
    const stream = await ask(await connect(gateway.url), toolCall('free'));
    stream.pause();
    for (let at = 0; at < 96; at += 1) live.write(`data: ${'x'.repeat(256 * 1024)}\n\n`);
    live.end();
    const { answered } = await gateway.upstream.request((request) => callOf(request)?.method === 'tools/call');
    stream.close();
    await answered;
  });

  test('in the middle of any answer harms nobody else', async (t) => {
    const event = `data: {"jsonrpc":"2.0","method":"n","params":{"x":"${'x'.repeat(64 * 1024)}"}}\n\n`;
    const replies: Reply[] = [
      sse(event.repeat(20)),
      sse([gzipSync(event.repeat(20))], { 'content-encoding': 'gzip' }),
      json({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 * 1024) } }),
    ];
    let at = 0;
    const gateway = await answering(t, { call: () => replies[(at += 1) % replies.length] ?? {} });
    const client = await connect(gateway.url);
    await provide(client, 'paid', { token: key });
    for (let round = 0; round < rounds; round += 1) {
      const stream = await ask(client, toolCall(round % 2 === 0 ? 'free' : 'paid'));
      stream.close();
      await stream.over;
    }
    assert.equal((await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 200);
    assert.deepEqual(gateway.proxy.log.filter((line) => line.includes('"level":"error"')), []);
  });
});

describe('very many calls that nobody waits for', { timeout: 30_000 }, () => {
  const perPerson = 100;
  for (const connections of [perPerson + 1, 1]) {
    test(`do not stay open upstream for ever, over ${connections} connection(s): the oldest gives way (B17)`, async (t) => {
      const gateway = await answering(t, { call: () => sse(liveBody().body) });
      const { port, host } = new URL(gateway.url);
      const body = JSON.stringify(toolCall('free'));
      const message = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const clients = Array.from({ length: connections }, () => connectSocket(Number(port), '127.0.0.1').on('error', () => undefined));
      for (const client of clients) client.write(message.repeat((perPerson + 1) / connections));
      for (let nth = 0; nth <= perPerson; nth += 1) await gateway.upstream.request((one) => gateway.upstream.requests.indexOf(one) === nth);
      for (const client of clients) client.destroy();
      await Promise.race(gateway.upstream.requests.map(({ aborted }) => aborted));
      assert.equal(gateway.upstream.openStreams(), perPerson);
    });
  }
});

describe('what clients leave behind', { timeout: 30_000 }, () => {
  test('is nothing after many server streams: no stream, timer, listener, subscription or upstream half (S8, B17)', async (t) => {
    const gateway = await answering(t, { get: () => sse(liveBody().body) });
    const clients = [await connect(gateway.url), await connect(gateway.url, { capabilities: urlMode })];
    const before = sockets();
    for (let round = 0; round < rounds; round += 1) {
      const client = clients[round % 2];
      assert.ok(client);
      const opened = gateway.upstream.requests.length;
      const stream = await listen(client);
      const request = await gateway.upstream.request((one) => one.method === 'GET' && gateway.upstream.requests.indexOf(one) >= opened);
      if (round % 3 === 0) await listen(client).then((next) => { next.close(); });
      stream.close();
      await request.aborted;
    }
    assert.equal(gateway.upstream.openStreams(), 0);
    assertNothingIsLeft();
    assert.ok(sockets() <= before, `${sockets()} sockets, ${before} before`);
  });

  test('is nothing after many who hung up before their stream was open (S7, B17)', async (t) => {
    const gateway = await answering(t, { get: () => sse(liveBody().body) });
    const clients = [await connect(gateway.url), await connect(gateway.url, { capabilities: urlMode })];
    for (let round = 0; round < rounds; round += 1) {
      const client = clients[round % 2];
      if (client !== undefined) await shoutAndLeave(client, 'GET');
    }
    // A stream of the same session would be taken over by this one, if any were left.
    for (const client of clients) {
      const stream = await listen(client);
      stream.close();
      await stream.over;
    }
    await Promise.all(gateway.upstream.requests.filter(({ method }) => method === 'GET').map(({ aborted }) => aborted));
    assertNothingIsLeft();
  });

  test('is nothing after many calls whose clients went before, at and in the answer (B17)', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const gateway = await answering(t, { call: (request) => (request.body.includes('"waits"') ? answer.promise : sse(['data: {"n":1}\n\n', answer.promise])) });
    const client = await connect(gateway.url);
    for (let round = 0; round < rounds; round += 1) {
      await shoutAndLeave(client, 'POST', toolCall('free', { waits: true }));
      const stream = await ask(client, toolCall('free'));
      if (round % 2 === 0) await stream.until('"n":1');
      stream.close();
    }
    const calls = gateway.upstream.requests.filter((request) => callOf(request)?.method === 'tools/call');
    answer.resolve(sse('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'));
    await Promise.all(calls.map(({ answered }) => answered));
    assert.equal((await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 200);
    assertNothingIsLeft();
  });
});

describe('calls behind a busy upstream', { timeout: 30_000 }, () => {
  test('go through while many clients hang up in the queue', async (t) => {
    const gateway = await startGateway(t);
    const client = await connect(gateway.url);
    const leaving = Array.from({ length: 200 }, () => shoutAndLeave(client, 'POST', toolCall('free')));
    const staying = Array.from({ length: 20 }, () => client.call('free'));
    for (const answer of await Promise.all(staying)) assert.equal(answer.message.result?.content?.[0]?.text, 'free');
    await Promise.all(leaving);
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
  });

  test('go through while a hundred streams are open and fifty calls are never answered', async (t) => {
    const server = mcpServer();
    let isStuck = true;
    const gateway = await startGateway(t, {
      upstream: (request) => {
        if (request.method === 'GET') return sse(liveBody().body);
        return callOf(request)?.method === 'tools/call' && isStuck ? new Promise<Reply>(() => undefined) : server(request);
      },
    });
    const clients = await Promise.all(Array.from({ length: 100 }, () => connect(gateway.url)));
    const streams = await Promise.all(clients.map((client) => listen(client)));
    const [client] = clients;
    assert.ok(client);
    for (let round = 0; round < 50; round += 1) await shoutAndLeave(client, 'POST', toolCall('free'));
    isStuck = false;
    for (const answer of await Promise.all(clients.map((one) => one.call('free')))) {
      assert.equal(answer.message.result?.content?.[0]?.text, 'free');
    }
    for (const stream of streams) stream.close();
  });
});
