/** B5: many idle server streams, each with its upstream half behind it, beside ordinary calls. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { connect, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { serve, until } from './served.ts';
import { closingAll, percentile, times, took, type Soak } from './soak.ts';

const atOnce = 32;
/** Parsers keep the last that they have seen. */
const leftAtMost = 4;
/** What this process and the proxy have open beside the streams' two sockets each. */
const otherFiles = 100;

export const idleStreams: Soak = {
  name: 'idle-streams',
  row: 'B5',
  what: 'idle streams: memory of the proxy for each with its upstream half, an ordinary call beside them, all freed after they close',
  full: 10_000,
  small: 100,
  run: (wanted) => closingAll(async (t) => {
    const count = Math.min(wanted, streamsAllowed(wanted));
    const upstream = await startRecorder(mcpServer({ get: 'open' }));
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    const clients: McpClient[] = [];
    await times(count, atOnce, async () => {
      clients.push(await connect(served.url, { capabilities: urlMode }));
    });
    await warmUp(clients[0]);
    const before = { ...(await served.held()), files: served.openFiles() };
    const sockets: Socket[] = [];
    const open = (upTo: number): Promise<void> => times(upTo - sockets.length, atOnce, async () => {
      const client = clients.pop();
      assert.ok(client);
      sockets.push(await openStream(client));
    });
    const caller = clients[0];
    assert.ok(caller);
    // The first half also fills what the start has left free.
    await open(Math.floor(count / 2));
    const half = await served.held();
    await open(count);
    await until('each stream has its upstream half', () => upstream.openStreams() === count);
    const full = await served.held();
    const calls: number[] = [];
    for (let at = 0; at < Math.min(1_000, count); at += 1) calls.push(await took(() => caller.call('free')));
    for (const socket of sockets) socket.destroy();
    const closedAt = performance.now();
    let [after, freedMs] = [full, 0];
    await until('all that the streams held is freed', async () => {
      if (served.openFiles() > before.files || upstream.openStreams() > 0) return false;
      // When it is answered, the process has heard of what was closed before.
      await caller.call('free');
      freedMs = performance.now() - closedAt;
      after = await served.held();
      return after.calls <= leftAtMost && after.streams <= leftAtMost;
    });
    assert.ok(after.timers <= before.timers + 1, `${after.timers} timers, ${before.timers} before`);
    const perStream = (from: number, to: number): number => (to - from) / (count - Math.floor(count / 2)) / 1024;
    return {
      figures: [
        { what: 'streams', measured: count, unit: '' },
        { what: 'resident memory for each', measured: (full.rss - before.rss) / count / 1024, unit: 'KB', bar: 45 },
        { what: 'for each of the second half', measured: perStream(half.rss, full.rss), unit: 'KB' },
        { what: 'of it heap', measured: perStream(half.heapUsed, full.heapUsed), unit: 'KB' },
        { what: 'p99 of an ordinary call', measured: percentile(calls, 0.99), unit: 'ms', bar: 100 },
        { what: 'all freed', measured: freedMs / 1_000, unit: 's', bar: 5 },
        { what: 'heap left for each', measured: Math.max(0, after.heapUsed - before.heapUsed) / count / 1024, unit: 'KB' },
      ],
      ...(count < wanted ? { leftOut: [`${wanted - count} of ${wanted} streams: this machine allows no more open files`] } : {}),
    };
  }),
};

/** Raises how many files this process and its children may open, where it may. */
function streamsAllowed(wanted: number): number {
  const limit = (): number => Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
  const needed = wanted * 2 + otherFiles;
  if (limit() < needed) spawnSync('prlimit', ['--pid', String(process.pid), `--nofile=${needed}:${needed}`]);
  return Math.floor((limit() - otherFiles) / 2);
}

async function warmUp(client: McpClient | undefined): Promise<void> {
  for (let at = 0; at < 50; at += 1) assert.equal((await client?.call('free'))?.status, 200);
}

/** A bare socket: this process has many to hold. */
async function openStream({ url, session = '' }: McpClient): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET /mcp HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 200/);
  socket.resume();
  return socket;
}
