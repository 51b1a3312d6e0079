/** B7: bodies far beyond `maxBody`, told and untold, plain and packed, at the endpoint and at a page, sent to their last byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { connect } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { serve } from './served.ts';
import { closingAll, type Soak } from './soak.ts';

const mebibyte = 1024 * 1024;
const hugeMebibytes = 100;

interface Attack {
  readonly name: string;
  readonly path: string;
  readonly headers: readonly string[];
  /** Sent so often. */
  readonly piece: Buffer;
  readonly pieces: number;
  readonly isChunked: boolean;
}

export const hugeBodies: Soak = {
  name: 'huge-bodies',
  row: 'B7',
  what: '100 MB bodies with a length, chunked, and as gzip bombs, at the endpoint and at a page: 413 or 415, memory flat',
  full: 20,
  small: 1,
  run: (count) => closingAll(async (t) => {
    const upstream = await startRecorder(mcpServer());
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    const client = await connect(served.url);
    const all = attacks();
    const attackAll = async (): Promise<void> => {
      for (const attack of all) assert.match(await send(served.url, attack), /^HTTP\/1\.1 41[35] /, attack.name);
    };
    // A process that has just started grows at whatever it does first.
    await attackAll();
    let risenMb = 0;
    for (let at = 0; at < count; at += 1) {
      for (const attack of all) {
        await served.held();
        risenMb = Math.max(risenMb, await served.peak(() => send(served.url, attack)));
      }
    }
    const before = await served.held();
    const inARowMb = await served.peak(async () => {
      for (let at = 0; at < count; at += 1) await attackAll();
    });
    const after = await served.held();
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
    assert.equal(upstream.requests.some(({ body }) => body.length > 8 * mebibyte), false);
    return {
      figures: [
        { what: 'bodies refused', measured: (2 * count + 1) * all.length, unit: '' },
        { what: 'memory risen at most by one', measured: risenMb, unit: 'MB', bar: 10 },
        { what: 'by all in a row, before garbage is collected', measured: inARowMb, unit: 'MB' },
        { what: 'heap grown after all', measured: (after.heapUsed - before.heapUsed) / mebibyte, unit: 'MB', bar: 5 },
      ],
    };
  }),
};

function attacks(): readonly Attack[] {
  const piece = Buffer.alloc(mebibyte, 'x');
  // A gzip stream may have several members: ten times the same make a gibibyte.
  const bomb = Buffer.concat(Array<Buffer>(10).fill(gzipSync(Buffer.alloc(hugeMebibytes * mebibyte, 'x'), { level: 1 })));
  const targets = [
    { path: '/mcp', headers: ['Content-Type: application/json', 'Accept: application/json, text/event-stream'] },
    { path: '/connect/none', headers: ['Content-Type: application/x-www-form-urlencoded'] },
  ];
  return targets.flatMap(({ path, headers }) => [
    { name: `${path} with a length`, path, headers, piece, pieces: hugeMebibytes, isChunked: false },
    { name: `${path} chunked`, path, headers, piece, pieces: hugeMebibytes, isChunked: true },
    { name: `${path} gzip bomb`, path, headers: [...headers, 'Content-Encoding: gzip'], piece: bomb, pieces: 1, isChunked: false },
    { name: `${path} chunked gzip bomb`, path, headers: [...headers, 'Content-Encoding: gzip'], piece: bomb, pieces: 1, isChunked: true },
  ]);
}

/** Sends every byte, whatever is answered meanwhile; Node's own client stops when it has the answer. @returns the status line */
async function send(url: string, { path, headers, piece, pieces, isChunked }: Attack): Promise<string> {
  const { host, port } = new URL(url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const answered = once(socket, 'data') as Promise<[Buffer]>;
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${piece.length * pieces}`;
  socket.write([`POST ${path} HTTP/1.1`, `Host: ${host}`, ...headers, length, '', ''].join('\r\n'));
  for (let at = 0; at < pieces; at += 1) {
    if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
    const isRoomLeft = socket.write(piece);
    if (isChunked) socket.write('\r\n');
    if (!isRoomLeft) await once(socket, 'drain');
  }
  if (isChunked) socket.write('0\r\n\r\n');
  const [answer] = await answered;
  socket.destroy();
  return answer.toString().split('\r\n')[0] ?? '';
}
