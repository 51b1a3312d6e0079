/** The client's standalone GET: first bytes, comments, take-over, what the upstream refuses, and how both halves end. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { brotliCompressSync, constants, createBrotliCompress, createDeflate, createGzip, createZstdCompress, gzipSync } from 'node:zlib';
import type { Transform } from 'node:stream';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { sse, type RecordedRequest, type Reply } from '../kit/recorder.ts';
import { listen, liveBody, type LiveBody } from '../kit/streams.ts';

const comment = ': \n\n';
const isGet = ({ method }: RecordedRequest): boolean => method === 'GET';

/** A gateway whose upstream answers every GET by this. */
async function withStream(t: TestContext, answer: (request: RecordedRequest) => Reply | Promise<Reply>, options: Parameters<typeof mcpServer>[0] = {}): Promise<RunningGateway> {
  const server = mcpServer(options);
  return startGateway(t, { upstream: (request) => (request.method === 'GET' ? answer(request) : server(request)) });
}

/** A gateway whose upstream's next GET is written by the test. */
async function withLive(t: TestContext): Promise<{ gateway: RunningGateway; client: McpClient; live: LiveBody }> {
  const live = liveBody();
  const gateway = await withStream(t, () => sse(live.body));
  return { gateway, client: await connect(gateway.url), live };
}

describe('a server stream', { timeout: 30_000 }, () => {
  test('sends a first byte at once, though the upstream has sent only its headers (S2)', async (t) => {
    const { client } = await withLive(t);
    const stream = await listen(client);
    assert.equal(stream.status, 200);
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.headers['cache-control'], 'no-cache, no-transform');
    assert.equal(stream.headers['x-accel-buffering'], 'no');
    assert.equal(await stream.until(comment), comment);
  });

  test('is served at once to a client that takes URLs, before the upstream has said anything (S2, C2)', async (t) => {
    const gateway = await withStream(t, () => new Promise(() => undefined));
    const stream = await listen(await connect(gateway.url, { capabilities: urlMode }));
    assert.equal(await stream.until(comment), comment);
  });

  test('begins after five seconds for any client when the upstream keeps its headers to itself (S2)', async (t) => {
    const gateway = await withStream(t, () => new Promise(() => undefined));
    const client = await connect(gateway.url);
    const opening = listen(client);
    await gateway.upstream.request(isGet);
    gateway.proxy.pass(5_000);
    assert.equal(await (await opening).until(comment), comment);
  });

  test('carries a comment after 15 s of silence, and none before (S3)', async (t) => {
    const { gateway, client, live } = await withLive(t);
    const stream = await listen(client);
    await stream.until(comment);
    gateway.proxy.pass(13_000);
    live.write('data: 1\n\n');
    await stream.until('data: 1\n\n');
    gateway.proxy.pass(13_000);
    live.write('data: 2\n\n');
    await stream.until('data: 2\n\n');
    gateway.proxy.pass(15_000);
    assert.equal(await stream.until(comment, 2), `${comment}data: 1\n\ndata: 2\n\n${comment}`);
  });

  test('is taken over by a new GET: no 409, no second stream upstream, no event lost or torn (S3)', async (t) => {
    const { gateway, client, live } = await withLive(t);
    const first = await listen(client);
    live.write('id: 1\ndata: one\n\n', 'id: 2\nda');
    await first.until('data: one\n\n');
    const second = await listen(client);
    assert.equal(second.status, 200);
    live.write('ta: two\n', '\n', 'data: three\n\n');
    await second.until('three\n\n');
    assert.deepEqual(await first.over, { text: `${comment}id: 1\ndata: one\n\n`, end: 'whole' });
    assert.equal(second.text, `${comment}id: 2\ndata: two\n\ndata: three\n\n`);
    assert.equal(gateway.upstream.requests.filter(isGet).length, 1);
  });

  test('is taken over while the upstream has not answered yet: the old GET ends as a stream does (S3, C2)', async (t) => {
    const answer = Promise.withResolvers<Reply>();
    const gateway = await withStream(t, () => answer.promise);
    const client = await connect(gateway.url);
    const opening = listen(client);
    await gateway.upstream.request(isGet);
    const again = listen(client);
    const first = await opening;
    assert.equal(first.status, 200);
    assert.equal(first.headers['content-type'], 'text/event-stream');
    assert.equal((await first.over).end, 'whole');
    const live = liveBody();
    answer.resolve(sse(live.body));
    live.write('data: late\n\n');
    assert.equal(await (await again).until('late\n\n'), `${comment}data: late\n\n`);
    assert.equal(gateway.upstream.requests.filter(isGet).length, 1);
  });

  test('keeps comments and notices of ours out of an event in which the upstream pauses (S5)', async (t) => {
    const live = liveBody();
    const gateway = await withStream(t, () => sse(live.body));
    const client = await connect(gateway.url, { capabilities: urlMode });
    const stream = await listen(client);
    live.write('data: before\n\n', 'id: 7\nevent: message\nda', 'ta: {"half":');
    await stream.until('before\n\n');
    gateway.proxy.pass(15_000);
    await provide(client, 'paid', { token: key });
    await stream.until('notifications/elicitation/complete');
    live.write('1}\n', '\n');
    const text = await stream.until('{"half":1}\n\n');
    assert.match(text, /id: 7\nevent: message\ndata: \{"half":1\}\n\n/);
    assert.match(text, /data: before\n\n(: \n\n)?event: message\ndata: [^\n]*elicitation\/complete[^\n]*\n\n(: \n\n)?id: 7/);
  });

  test('ends its upstream half when the client hangs up (S7)', async (t) => {
    const { gateway, client } = await withLive(t);
    const stream = await listen(client);
    const { aborted } = await gateway.upstream.request(isGet);
    stream.close();
    await aborted;
  });

  test('ends its upstream half when the client hangs up before the upstream has answered (S7)', async (t) => {
    const gateway = await withStream(t, () => new Promise(() => undefined));
    const client = await connect(gateway.url, { capabilities: urlMode });
    const stream = await listen(client);
    const { aborted } = await gateway.upstream.request(isGet);
    stream.close();
    await aborted;
  });

  test('ends when the upstream ends it, after its last event', async (t) => {
    const { client, live } = await withLive(t);
    const stream = await listen(client);
    live.write('data: last\n\n');
    live.end();
    assert.deepEqual(await stream.over, { text: `${comment}data: last\n\n`, end: 'whole' });
  });

  test('ends cleanly, without half an event, when the upstream dies in mid-event (B4)', async (t) => {
    const { client, live } = await withLive(t);
    const stream = await listen(client);
    live.write('data: whole\n\ndata: hal');
    live.cut();
    assert.deepEqual(await stream.over, { text: `${comment}data: whole\n\n`, end: 'whole' });
  });

  test('ends with the session that the client deletes', async (t) => {
    const { gateway, client } = await withLive(t);
    const stream = await listen(client);
    const { aborted } = await gateway.upstream.request(isGet);
    assert.equal((await client.bare('DELETE')).status, 200);
    assert.equal((await stream.over).end, 'whole');
    await aborted;
  });
});

describe('a GET that the upstream refuses', { timeout: 30_000 }, () => {
  const refusals: readonly [string, Reply][] = [
    ['200 and JSON', { headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' }],
    ['400', { status: 400 }],
    ['404', { status: 404 }],
    ['405', { status: 405 }],
    ['401', { status: 401, headers: { 'www-authenticate': 'Bearer' } }],
    ['500', { status: 500 }],
    ['a coding that nobody can read', { headers: { 'content-type': 'text/event-stream', 'content-encoding': 'made-up' }, body: 'data: x\n\n' }],
  ];
  for (const [name, reply] of refusals) {
    test(`with ${name} is answered 405 with Allow, when the client takes no URLs (H3)`, async (t) => {
      const gateway = await withStream(t, () => reply, { sessions: false });
      const answer = await (await connect(gateway.url)).bare('GET');
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.allow, 'POST');
      assert.equal(answer.headers['www-authenticate'], undefined);
    });
    test(`with ${name} is served as a stream of ours when the client takes URLs, and carries the completion (H3, C2)`, async (t) => {
      const gateway = await withStream(t, () => reply, { sessions: false });
      const client = await connect(gateway.url, { capabilities: urlMode });
      const stream = await listen(client);
      assert.equal(stream.status, 200);
      await provide(client, 'paid', { token: key });
      await stream.until('notifications/elicitation/complete');
    });
  }

  test('goes on as a stream of ours with comments, so that nobody on the way cuts it (H3, S3)', async (t) => {
    const gateway = await withStream(t, () => ({ status: 405 }));
    const stream = await listen(await connect(gateway.url, { capabilities: urlMode }));
    gateway.proxy.pass(15_000);
    assert.equal(await stream.until(comment, 2), comment + comment);
  });

  for (const status of [409, 429, 502, 503, 504]) {
    test(`with ${status} is answered 502, so that the client comes again (S3)`, async (t) => {
      const gateway = await withStream(t, () => ({ status }));
      assert.equal((await (await connect(gateway.url)).bare('GET')).status, 502);
    });
    test(`with ${status} ends the stream of a client that takes URLs, so that it comes again (S3)`, async (t) => {
      const gateway = await withStream(t, () => ({ status }));
      const stream = await listen(await connect(gateway.url, { capabilities: urlMode }));
      assert.deepEqual(await stream.over, { text: comment, end: 'whole' });
    });
  }

  for (const [kind, capabilities] of [['takes URLs', urlMode], ['takes none', {}]] as const) {
    test(`with 404 in a live session ends the session of a client that ${kind} (H5)`, async (t) => {
      const gateway = await withStream(t, () => ({ status: 404 }));
      const client = await connect(gateway.url, { capabilities });
      const stream = await listen(client);
      assert.equal(stream.status, capabilities === urlMode ? 200 : 404);
      assert.equal((await stream.over).end, 'whole');
      assert.equal((await client.call('free')).status, 404);
      assert.equal((await (await connect(gateway.url)).call('free')).status, 200);
    });
  }

  test('because nobody answers is answered 502', async (t) => {
    const gateway = await startGateway(t);
    const client = await connect(gateway.url);
    await gateway.upstream.close();
    assert.equal((await client.bare('GET')).status, 502);
  });
});

describe('a GET that resumes', { timeout: 30_000 }, () => {
  test('passes Last-Event-ID on and replaces nothing', async (t) => {
    const bodies = [liveBody(), liveBody()];
    let opened = 0;
    const gateway = await withStream(t, () => sse(bodies[opened++]?.body ?? ''));
    const client = await connect(gateway.url, { capabilities: urlMode });
    const standalone = await listen(client);
    await gateway.upstream.request(isGet);
    const resumed = await listen(client, { 'Last-Event-ID': '12-a' });
    const second = await gateway.upstream.request((request) => request.header('last-event-id') === '12-a');
    assert.equal(second.method, 'GET');
    bodies[0]?.write('data: standalone\n\n');
    bodies[1]?.write('data: resumed\n\n');
    await standalone.until('data: standalone\n\n');
    await resumed.until('data: resumed\n\n');
    resumed.close();
    await second.aborted;
    bodies[0]?.write('data: goes on\n\n');
    await standalone.until('goes on\n\n');
    assert.equal(gateway.upstream.openStreams(), 1);
  });
});

const flush = { gzip: () => createGzip(), deflate: () => createDeflate(), br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }), zstd: () => createZstdCompress() };

describe('a server stream that the upstream compresses though nobody asked', { timeout: 30_000 }, () => {
  for (const [encoding, make] of Object.entries(flush)) {
    test(`arrives event by event: ${encoding} (S1, H4)`, async (t) => {
      const live = liveBody();
      const gateway = await withStream(t, () => sse(live.body, { 'content-encoding': encoding }));
      const stream = await listen(await connect(gateway.url));
      const encoder: Transform = make();
      encoder.on('data', (chunk: Buffer) => { live.write(chunk); });
      for (const event of ['data: one\n\n', 'data: two\n\n']) {
        encoder.write(event);
        (encoder as unknown as { flush: () => void }).flush();
        await stream.until(event);
      }
      encoder.once('end', live.end);
      encoder.end('data: last\n\n');
      assert.deepEqual(await stream.over, { text: `${comment}data: one\n\ndata: two\n\ndata: last\n\n`, end: 'whole' });
    });
  }

  test('loses nothing when bytes and end come at once (H4)', async (t) => {
    const events = Array.from({ length: 2_000 }, (_, at) => `data: ${at} ${'x'.repeat(100)}\n\n`).join('');
    const gateway = await withStream(t, () => sse([gzipSync(events)], { 'content-encoding': 'gzip' }));
    const stream = await listen(await connect(gateway.url));
    assert.equal((await stream.over).text, comment + events);
  });

  test('ends when its bytes cannot be decoded', async (t) => {
    const broken = brotliCompressSync('data: x\n\n'.repeat(1_000)).subarray(0, 20);
    const gateway = await withStream(t, () => sse([broken], { 'content-encoding': 'br' }));
    const stream = await listen(await connect(gateway.url));
    assert.equal((await stream.over).end, 'whole');
  });
});
