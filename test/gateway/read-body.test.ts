import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { readBody } from '../../src/gateway/read-body.ts';

type Outcome = Parameters<Parameters<typeof readBody>[2]>[0];

/** Sends the pieces with a length or in chunks, and says what was read. */
async function sent(t: TestContext, limit: number, pieces: readonly (string | Buffer)[], isChunked: boolean): Promise<Outcome> {
  const read = Promise.withResolvers<Outcome>();
  const server = createServer((incoming: IncomingMessage, reply) => {
    readBody(incoming, limit, (body) => {
      read.resolve(body);
      incoming.resume();
      reply.end();
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const outgoing = request({ port: address.port, host: '127.0.0.1', method: 'POST', headers: isChunked ? {} : { 'Content-Length': length } });
  outgoing.flushHeaders();
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.resume();
  return read.promise;
}

test('a body comes out as it was sent, in however many pieces, with a length and in chunks, up to its limit', async (t) => {
  const large = Buffer.from(Array.from({ length: 700_000 }, (_one, at) => at % 251));
  for (const isChunked of [false, true]) {
    for (const pieces of [[], ['{}'], ['a', 'b', 'c'], Array<string>(5_000).fill('xy'), [large], [large.subarray(0, 1), large.subarray(1)]]) {
      const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
      assert.deepEqual(await sent(t, Math.max(1, whole.length), pieces, isChunked), { ok: true, value: whole });
    }
  }
});

test('one byte more than the limit is refused, in one piece, in many and beyond what is held first (B7)', async (t) => {
  for (const isChunked of [false, true]) {
    for (const [limit, piece, count] of [[1, 'ab', 1], [9, 'x', 10], [500_000, Buffer.alloc(100_000), 6]] as const) {
      assert.deepEqual(await sent(t, limit, Array<string | Buffer>(count).fill(piece), isChunked), { ok: false, error: 'too-large' });
    }
  }
});

test('a body that is refused is given back at once, before garbage is collected (B7)', async () => {
  const limit = 64 * 1024 * 1024;
  const piece = Buffer.alloc(1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  const incoming = Object.assign(Readable.from(Array<Buffer>(65).fill(piece)), { headers: {} });
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  readBody(incoming, limit, resolve);
  assert.deepEqual(await promise, { ok: false, error: 'too-large' });
  assert.ok(process.memoryUsage().arrayBuffers - before < limit / 2);
});
