/** Senders who never finish are put out within ten seconds, and nobody else notices (B6). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, urlMode } from '../kit/mcp-client.ts';
import { listen } from '../kit/streams.ts';

const attackers = 8;
const closedWithinMs = 10_000;

test('slow headers, slow bodies and silent connections are closed within ten seconds while normal traffic goes on (B6)', { timeout: 30_000 }, async (t) => {
  const gateway = await startGateway(t);
  const client = await connect(gateway.url, { capabilities: urlMode });
  const stream = await listen(client);
  const { host, port } = new URL(gateway.url);
  const kinds = {
    headers: [`POST /mcp HTTP/1.1\r\nHost: ${host}\r\n`, 'X-Slow: 1\r\n'],
    body: [`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`, ' '],
    page: [`POST /connect/none HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n`, 'a'],
    silent: ['', ''],
  };
  const slow = async ([first = '', more = '']: readonly string[]): Promise<number> => {
    const socket = connectSocket(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const since = performance.now();
    socket.on('error', () => undefined).resume();
    socket.write(first);
    const drip = setInterval(() => socket.write(more), 500);
    await once(socket, 'close');
    clearInterval(drip);
    return performance.now() - since;
  };
  const closing = Promise.all(Object.values(kinds).flatMap((kind) => Array.from({ length: attackers }, () => slow(kind))));
  let isOver = false;
  void closing.then(() => { isOver = true; });
  let slowest = 0;
  while (!isOver) {
    const since = performance.now();
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
    slowest = Math.max(slowest, performance.now() - since);
  }
  const times = await closing;
  assert.ok(Math.max(...times) < closedWithinMs, `closed after ${Math.round(Math.max(...times))} ms`);
  assert.ok(slowest < 2_000, `a call took ${Math.round(slowest)} ms`);
  // A stream that was asked for in time stays as long as it likes.
  gateway.proxy.pass(15_000);
  await stream.until(': \n\n', 2);
});
