/** One person writes very many protected calls into one connection at once: everybody else is served meanwhile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, toolCall } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';

const calls = 2_000;
const headers = (person: string) => ({ 'X-Forwarded-User': person, 'X-Proxy-Secret': planted('a-proxy-secret') });
const file = `identity: { proxyHeaders: { user: X-Forwarded-User, issuer: "https://sso.example.com", secretHeader: X-Proxy-Secret, secret: a-proxy-secret } }`;

/** Counts the answers on a connection as they come. */
function countAnswers(socket: Socket): () => number {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  return () => text.split('HTTP/1.1 200').length - 1;
}

test('while one person’s 2,000 pipelined calls are asked for her key, another person’s call is answered (A9)', { timeout: 60_000 }, async (t) => {
  const { url, proxy } = await startGateway(t, { file });
  const ben = await connect(url, { headers: headers('ben') });
  const { port, host } = new URL(url);
  const body = JSON.stringify(toolCall('paid'));
  const lines = Object.entries({ Host: host, 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': String(body.length), ...headers('ada') }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connectSocket(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const answers = countAnswers(socket);
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`.repeat(calls));

  assert.equal((await ben.call('free')).status, 200);
  assert.ok(answers() < calls / 2, 'ben waited for most of ada’s calls');
  while (answers() < calls) await once(socket, 'data');
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'asked').length, calls);
});
