/** B6: senders who never finish, while normal traffic goes on. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { connect, urlMode } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { serve, until } from './served.ts';
import { closingAll, percentile, took, type Soak } from './soak.ts';

const betweenCallsMs = 2;
const dripMs = 500;

export const slowSenders: Soak = {
  name: 'slow-senders',
  row: 'B6',
  what: 'slow headers, slow bodies, slow forms and silent connections: closed while normal traffic goes on',
  full: 1_000,
  small: 8,
  run: (count) => closingAll(async (t) => {
    const upstream = await startRecorder(mcpServer());
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    const client = await connect(served.url, { capabilities: urlMode });
    const { host, port } = new URL(served.url);
    const kinds = [
      [`POST /mcp HTTP/1.1\r\nHost: ${host}\r\n`, 'X-Slow: 1\r\n'],
      [`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`, ' '],
      [`POST /connect/none HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n`, 'a'],
      ['', ''],
    ] as const;
    const before = served.openFiles();
    const attack = async ([first, more]: (typeof kinds)[number]): Promise<number> => {
      const socket = connectSocket(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined).resume();
      socket.write(first);
      const drip = setInterval(() => socket.write(more), dripMs);
      const closedMs = await took(() => once(socket, 'close'));
      clearInterval(drip);
      return closedMs;
    };
    let isOver = false;
    const attacks = Promise.all(Array.from({ length: count }, (_, at) => attack(kinds[at % kinds.length] ?? kinds[0]))).finally(() => { isOver = true; });
    const calls: number[] = [];
    while (!isOver) {
      calls.push(await took(async () => {
        assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
      }));
      // Ordinary traffic, not a flood: each call is a connection of its own, and their ports run out.
      await pause(betweenCallsMs);
    }
    const closed = await attacks;
    await until('all their sockets are closed', () => served.openFiles() <= before + 1);
    return {
      figures: [
        { what: 'last attacker closed', measured: Math.max(...closed) / 1_000, unit: 's', bar: 10 },
        { what: 'calls meanwhile', measured: calls.length, unit: '' },
        { what: 'p99 of a call', measured: percentile(calls, 0.99), unit: 'ms', bar: 2_000 },
      ],
    };
  }),
};
