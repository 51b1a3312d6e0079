/** An upstream whose answers have no end, or unpack to very much: a clear error, and memory that stays flat (A14, B7). */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { sse, type Reply } from '../kit/recorder.ts';
import { ask, listen, type StreamClient } from '../kit/streams.ts';

const mebibyte = 1024 * 1024;
/** What is held of one message, twice while it grows, and room for the test's own noise. */
const flatBytes = 220 * mebibyte;

let bombs: { readonly zeros: Buffer; readonly events: Buffer; readonly densest: Buffer };
before(() => {
  // A gzip stream may have several members: 16 times the same make a gibibyte out of one mebibyte.
  const sixteenfold = (packed: Buffer): Buffer => Buffer.concat(Array<Buffer>(16).fill(packed));
  const events = Buffer.alloc(64 * mebibyte, `data: ${'x'.repeat(1018)}\n\n`);
  bombs = {
    zeros: sixteenfold(gzipSync(Buffer.alloc(64 * mebibyte, 'x'), { level: 1 })),
    events: sixteenfold(gzipSync(events, { level: 1 })),
    // A gibibyte that arrives in two reads: nothing can be held back upstream any more.
    densest: sixteenfold(zstdCompressSync(events)),
  };
});

let watch: NodeJS.Timeout | undefined;
let peak = 0;
after(() => { clearInterval(watch); });

/** What objects and buffers take; resident memory would not show what goes into space that earlier tests have left. */
function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs something and says how far memory rose above where it began. */
async function growth(run: () => Promise<void>): Promise<number> {
  const start = memory();
  peak = start;
  clearInterval(watch);
  watch = setInterval(() => {
    peak = Math.max(peak, memory());
  }, 5);
  await run();
  clearInterval(watch);
  return Math.max(peak, memory()) - start;
}

function answering(t: TestContext, reply: () => Reply, isMeant = 'tools/call'): Promise<RunningGateway> {
  const server = mcpServer({ sessions: false });
  return startGateway(t, { upstream: (request) => ((request.method === 'GET' ? 'GET' : callOf(request)?.method) === isMeant ? reply() : server(request)) });
}

const packed = (type: string, body: Buffer, status = 200): Reply => ({ status, headers: { 'content-type': type, 'content-encoding': 'gzip' }, body });

/** A body without end: the same bytes for as long as somebody reads. */
function* endless(piece: string | Buffer, first = ''): Generator<string | Buffer> {
  if (first !== '') yield first;
  for (;;) yield piece;
}

const piece = 'x'.repeat(64 * 1024);

describe('an answer that is looked into and has no end', { timeout: 60_000 }, () => {
  const answers: readonly [string, () => Reply][] = [
    ['JSON that unpacks to a gibibyte', () => packed('application/json', bombs.zeros)],
    ['JSON without end', () => ({ headers: { 'content-type': 'application/json' }, body: endless(piece, '{"a":"') })],
    ['an event that unpacks to a gibibyte', () => packed('text/event-stream', bombs.zeros)],
    ['an event without end', () => sse(endless(piece, 'data: '))],
    ['an error that unpacks to a gibibyte', () => packed('application/json', bombs.zeros, 400)],
    ['an error without end', () => ({ status: 400, headers: { 'content-type': 'application/json' }, body: endless(piece) })],
    ['a page without end', () => ({ status: 500, headers: { 'content-type': 'text/html' }, body: endless(piece) })],
  ];
  for (const [name, reply] of answers) {
    test(`is error 1502, and costs no memory: ${name} (A14)`, async (t) => {
      const gateway = await answering(t, reply);
      const client = await connect(gateway.url);
      await provide(client, 'paid', { token: key });
      let answer: StreamClient | undefined;
      const grown = await growth(async () => {
        answer = await ask(client, toolCall('paid'));
        await answer.over;
      });
      assert.match(answer?.text ?? '', /"id":1,"error":\{"code":1502,/);
      assert.ok(grown < flatBytes, `${Math.round(grown / mebibyte)} MiB more`);
      const { aborted, answered } = await gateway.upstream.request((request) => callOf(request)?.params?.name === 'paid' && request.header('x-key') !== undefined);
      await Promise.race([aborted, answered]);
    });
  }

  test('is error 1502 to initialize', async (t) => {
    for (const reply of [packed('application/json', bombs.zeros), packed('text/event-stream', bombs.zeros), packed('text/event-stream', bombs.events)]) {
      const gateway = await answering(t, () => reply, 'initialize');
      const grown = await growth(async () => {
        assert.equal((await connect(gateway.url)).opened.message.error?.code, 1502);
      });
      assert.ok(grown < flatBytes, `${Math.round(grown / mebibyte)} MiB more`);
    }
  });

  test('ends a server stream', async (t) => {
    for (const reply of [() => packed('text/event-stream', bombs.zeros), () => sse(endless(piece, 'data: '))]) {
      const gateway = await answering(t, reply, 'GET');
      const client = await connect(gateway.url);
      const grown = await growth(async () => {
        const { text, end } = await (await listen(client)).over;
        assert.deepEqual({ text, end }, { text: ': \n\n', end: 'whole' });
      });
      assert.ok(grown < flatBytes, `${Math.round(grown / mebibyte)} MiB more`);
    }
  });

  test('after the client hung up costs no memory', async (t) => {
    const gateway = await answering(t, () => packed('application/json', bombs.zeros));
    const client = await connect(gateway.url);
    const grown = await growth(async () => {
      const answer = await ask(client, toolCall('free'));
      await answer.until('xxx');
      answer.close();
      const { answered, aborted } = await gateway.upstream.request((request) => callOf(request)?.method === 'tools/call');
      await Promise.race([answered, aborted]);
      assert.equal((await client.call('paid')).status, 200);
    });
    assert.ok(grown < flatBytes, `${Math.round(grown / mebibyte)} MiB more`);
  });
});

describe('an answer that a client does not read', { timeout: 60_000 }, () => {
  const limit = 64 * mebibyte;
  const gibibyte = 1024 * mebibyte;

  /** Small calls go through until an amount has stood still for a while; then it is returned. */
  async function stall(gateway: RunningGateway, produced: () => number): Promise<number> {
    for (let still = 0, last = -1; still < 20; ) {
      assert.equal((await (await connect(gateway.url)).post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 200);
      still = produced() === last ? still + 1 : 0;
      last = produced();
    }
    return produced();
  }

  for (const [name, type, isMeant] of [
    ['JSON', 'application/json', 'tools/call'],
    ['events', 'text/event-stream', 'tools/call'],
    ['a server stream', 'text/event-stream', 'GET'],
  ] as const) {
    test(`holds the upstream back: ${name}`, async (t) => {
      let produced = 0;
      const body = function* () {
        for (; produced < gibibyte; produced += piece.length) yield `data: ${piece}\n\n`;
      };
      const gateway = await answering(t, () => ({ headers: { 'content-type': type }, body: body() }), isMeant);
      const client = await connect(gateway.url);
      const stream = isMeant === 'GET' ? await listen(client) : await ask(client, toolCall('free'));
      stream.pause();
      const sent = await stall(gateway, () => produced);
      assert.ok(sent > 0 && sent < limit, `${Math.round(sent / mebibyte)} MiB`);
      stream.read();
      await stream.until('xxx');
      stream.close();
    });

    test(`costs no memory when it unpacks to a gibibyte: ${name}`, async (t) => {
      const gateway = await answering(t, () => ({ headers: { 'content-type': type, 'content-encoding': 'zstd' }, body: bombs.densest }), isMeant);
      const client = await connect(gateway.url);
      const grown = await growth(async () => {
        const stream = isMeant === 'GET' ? await listen(client) : await ask(client, toolCall('free'));
        stream.pause();
        // What piles up shows in memory, for as long as it does.
        await stall(gateway, () => Math.round(memory() / (8 * mebibyte)));
        stream.close();
      });
      assert.ok(grown < limit, `${Math.round(grown / mebibyte)} MiB more`);
    });
  }

  test('goes on at once for the connection that takes a server stream over from it (S3)', async (t) => {
    let produced = 0;
    const body = function* () {
      for (; produced < gibibyte; produced += piece.length) yield `data: ${piece}\n\n`;
    };
    const gateway = await answering(t, () => sse(body()), 'GET');
    const client = await connect(gateway.url, { capabilities: urlMode });
    const stalled = await listen(client);
    stalled.pause();
    await stall(gateway, () => produced);
    const next = await listen(client);
    await next.until('xxx');
    next.close();
    stalled.close();
  });

  test('for as long as the upstream may take counts as hung up, and the call goes on upstream', async (t) => {
    let produced = 0;
    // More than the buffers on the way hold; what is left then is less than is read for nobody.
    const total = 36 * mebibyte;
    const body = function* () {
      for (; produced < total; produced += piece.length) yield piece;
    };
    const gateway = await answering(t, () => ({ headers: { 'content-type': 'application/json' }, body: body() }));
    const client = await connect(gateway.url);
    const stream = await ask(client, toolCall('free'));
    stream.pause();
    await stall(gateway, () => produced);
    assert.ok(produced < total);
    gateway.proxy.pass(10 * 60_000 + 1);
    await (await gateway.upstream.request((request) => callOf(request)?.method === 'tools/call')).answered;
    assert.equal(produced, total);
    stream.read();
    assert.equal((await stream.over).end, 'cut');
  });
});
