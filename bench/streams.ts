/**
 * What an idle stream costs: sessions are opened through Elicitgate, then a GET stream on each, each with
 * its upstream half behind it. Memory is read inside the proxy's process after a garbage collection. What
 * an open stream costs is told by the second half of them: the first fill what the start has left free.
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

/** Measures `streams` idle streams, an even number; takes a few seconds per thousand. */
export async function measureStreams(upstreamPort: number, streams: number): Promise<StreamCost> {
  const { process: proxy, port } = await serveElicitgate(upstreamPort, [
    '--expose-gc',
    '--import',
    beside('memory-probe.ts'),
  ]);
  try {
    const url = `http://127.0.0.1:${port}/mcp`;
    const half = streams / 2;
    const sessions = await inTurn(streams, () => openSession(url));
    const before = await ask<Memory>(proxy, {});
    const filesBefore = await openFiles(proxy.pid);
    const sockets = await inTurn(half, (index) => openStream(port, sessions[index] ?? {}));
    const halfOpen = await ask<Memory>(proxy, {});
    sockets.push(...(await inTurn(half, (index) => openStream(port, sessions[half + index] ?? {}))));
    const open = await ask<Memory>(proxy, {});
    for (const socket of sockets) socket.destroy();
    await closed(proxy.pid, filesBefore);
    await delay(500); // the last of its close events
    const after = await ask<Memory>(proxy, {});
    return {
      streams,
      rssPerStream: (open.rss - halfOpen.rss) / half,
      heapPerStream: (open.heapUsed - halfOpen.heapUsed) / half,
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

/** Waits, for at most ten seconds, until a process has no more files open than before. */
async function closed(pid: number, filesBefore: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await openFiles(pid)) <= filesBefore) return;
    await delay(100);
  }
}

/** Files and sockets that a process has open. */
async function openFiles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
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
