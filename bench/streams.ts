/**
 * What an idle stream costs: sessions are opened through Elicitgate, then a GET stream on each, each with
 * its upstream half behind it. Memory is read inside the proxy's process after a garbage collection, so
 * that the difference is the streams' own.
 */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { serveElicitgate } from './contenders.ts';
import { openSession, type Headers } from './mcp.ts';
import { ask, beside } from './processes.ts';

export interface StreamCost {
  readonly streams: number;
  /** Resident memory per open stream, in bytes. */
  readonly rssPerStream: number;
  readonly heapPerStream: number;
  /** What stays on the heap per stream when all are closed. */
  readonly heapLeftPerStream: number;
}

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

const atOnce = 32;

/** Measures `streams` idle streams; takes a few seconds per thousand. */
export async function measureStreams(upstreamPort: number, streams: number): Promise<StreamCost> {
  const { process: proxy, port } = await serveElicitgate(upstreamPort, [
    '--expose-gc',
    '--import',
    beside('memory-probe.ts'),
  ]);
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    const sessions = await inTurn(streams, () => openSession(url));
    // One stream beforehand, so that code that is loaded and compiled once is not counted.
    const first = await openStream(port, await openSession(url));
    const before = await ask<Memory>(proxy, {});
    const sockets = await inTurn(streams, (index) => openStream(port, sessions[index] ?? {}));
    const open = await ask<Memory>(proxy, {});
    for (const socket of [first, ...sockets]) socket.destroy();
    await fewerFiles(proxy.pid, streams);
    const after = await ask<Memory>(proxy, {});
    return {
      streams,
      rssPerStream: (open.rss - before.rss) / streams,
      heapPerStream: (open.heapUsed - before.heapUsed) / streams,
      heapLeftPerStream: Math.max(0, after.heapUsed - before.heapUsed) / streams,
    };
  } finally {
    await proxy.close();
  }
}

async function openStream(port: number, session: Headers): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const headers = { host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...session };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /mcp HTTP/1.1\r\n${lines.join('')}\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(`no stream: ${head.toString()}`);
  return socket;
}

/** Waits, for at most ten seconds, until a process has as few files open as without `streams` streams. */
async function fewerFiles(pid: number, streams: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await readdir(`/proc/${pid}/fd`)).length < streams / 2) return;
    await delay(100);
  }
}

/** Runs `step` for 0 … count-1, some at once, and gives back what each returned, in order. */
async function inTurn<T>(count: number, step: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await step(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
