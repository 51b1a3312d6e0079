/** Connections to the upstream that break (H11): a JSON-RPC error to the client, no crash, and a call that may have arrived is never sent again. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { post, toolCall } from '../kit/mcp-client.ts';
import { startProxy } from '../kit/proxy.ts';

const answer = '{"jsonrpc":"2.0","id":1,"result":{}}';
const whole = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`;

/** An upstream of bare sockets: each request that arrives whole is handed to `serve` with its connection. */
async function startSocketServer(t: TestContext, serve: (socket: Socket, request: string, count: number) => void) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? NaN);
      const end = text.indexOf('\r\n\r\n') + 4 + length;
      if (Number.isNaN(length) || text.length < end) return;
      requests.push(text.slice(0, end));
      text = text.slice(end);
      serve(socket, requests.at(-1) ?? '', requests.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const proxy = await startProxy(`upstreams: { main: { url: "http://127.0.0.1:${port}/mcp" } }`);
  t.after(async () => {
    await proxy.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `${proxy.origin}/mcp`, requests, sockets };
}

const deaths: readonly [string, (socket: Socket) => void][] = [
  ['closed without a byte', (socket) => socket.end()],
  ['reset without a byte', (socket) => socket.resetAndDestroy()],
  ['closed in the status line', (socket) => socket.end('HTTP/1.1 20')],
  ['closed in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: appl')],
  ['closed before the body', (socket) => socket.end(whole.slice(0, whole.indexOf('{')))],
  ['closed in the body', (socket) => socket.end(whole.slice(0, -5))],
  ['reset in the body', (socket) => socket.write(whole.slice(0, -5), () => socket.resetAndDestroy())],
  ['not HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.7\r\n')],
  ['HTTP of another kind', (socket) => socket.end('HTTP/2.0 200 OK\r\n\r\n')],
  ['two lengths', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}')],
  ['a bad chunk', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}')],
  ['a switch of protocols', (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')],
  ['hints and then the end', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')],
];

test('however the connection breaks under a call, the client gets a 1502 with its id, and the call was sent exactly once (H11)', async (t) => {
  for (const [name, die] of deaths) {
    const { url, requests } = await startSocketServer(t, (socket) => { die(socket); });
    const called = await post(url, toolCall('pay', {}, 42));
    assert.deepEqual([called.status, called.message.id, called.message.error?.code], [200, 42, 1502], name);
    assert.equal(requests.length, 1, name);
  }
});

test('a kept connection that dies with the next call on it is not tried again, and the call after that works (H11)', async (t) => {
  for (const method of ['tools/call', 'tools/list']) {
    const { url, requests } = await startSocketServer(t, (socket, _request, count) => {
      if (count === 2) socket.resetAndDestroy();
      else socket.write(whole);
    });
    const message = { jsonrpc: '2.0', id: 1, method, params: { name: 'pay' } };
    assert.equal((await post(url, message)).text, answer);
    assert.equal((await post(url, message)).message.error?.code, 1502);
    assert.equal(requests.length, 2);
    assert.equal((await post(url, message)).text, answer);
    assert.equal(requests.length, 3);
  }
});

test('a kept connection that the upstream closed while idle costs the next call nothing (H11)', async (t) => {
  const { url, requests, sockets } = await startSocketServer(t, (socket) => socket.write(whole));
  for (let turn = 1; turn <= 3; turn += 1) {
    assert.equal((await post(url, toolCall('pay'))).text, answer);
    assert.equal(requests.length, turn);
    for (const socket of sockets) {
      socket.end();
      // Its close has come back: the proxy has seen the end of this connection.
      if (!socket.closed) await once(socket, 'close');
    }
    sockets.clear();
  }
});

test('a connection is never shared by two calls at once: one that hangs holds up no other (H11)', async (t) => {
  const held: Socket[] = [];
  const both = Promise.withResolvers<undefined>();
  const { url, requests, sockets } = await startSocketServer(t, (socket, request) => {
    if (!request.includes('"slow"')) socket.write(whole);
    else if (held.push(socket) === 2) both.resolve(undefined);
  });
  const slow = [post(url, toolCall('slow')), post(url, toolCall('slow'))];
  await both.promise;
  for (let turn = 0; turn < 5; turn += 1) assert.equal((await post(url, toolCall('fast'))).text, answer);
  for (const socket of held) socket.write(whole);
  for (const called of await Promise.all(slow)) assert.equal(called.text, answer);
  assert.deepEqual([requests.length, sockets.size], [7, 3]);
});

test('an answer after early hints and in many pieces is whole', async (t) => {
  const { url } = await startSocketServer(t, (socket) => { for (const piece of ['HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', ...whole]) socket.write(piece); });
  assert.equal((await post(url, toolCall('pay'))).text, answer);
});

test('an upstream that answers without reading the call is believed', async (t) => {
  const refusal = '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"too large"}}';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('readable', () => socket.write(`HTTP/1.1 413 Too Large\r\nContent-Type: application/json\r\nContent-Length: ${refusal.length}\r\nConnection: close\r\n\r\n${refusal}`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { url } = await startGateway(t, { file: `upstreams: { main: { url: "http://127.0.0.1:${(server.address() as { port: number }).port}/mcp" } }` });
  const called = await post(url, toolCall('free', { text: 'x'.repeat(7_000_000) }));
  assert.deepEqual([called.status, called.text], [413, refusal]);
});
