/** Whoever is not known is told so before anything that she sends is read, let alone held. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { after, test } from 'node:test';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { post, toolCall } from '../kit/mcp-client.ts';
import { bearer, startRightPerson } from '../kit/right-person.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

test('a body that never comes whole is answered 401, 403 or 415 by its head alone', async (t) => {
  const { url } = await startRightPerson(t, provider);
  const { host, port, pathname } = new URL(url);
  const json = 'Content-Type: application/json';
  const good = `Authorization: Bearer ${await provider.token('ada', { audience: url })}`;
  const answerTo = async (...headers: readonly string[]): Promise<string> => {
    const socket = connectSocket(Number(port), '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write(`POST ${pathname} HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: 8000000\r\n\r\n{"jsonrpc":`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    return first.toString().split('\r\n')[0] ?? '';
  };
  assert.equal(await answerTo(`Host: ${host}`, json), 'HTTP/1.1 401 Unauthorized');
  assert.equal(await answerTo(`Host: ${host}`, json, 'Authorization: Bearer junk'), 'HTTP/1.1 401 Unauthorized');
  assert.equal(await answerTo('Host: evil.example', json, good), 'HTTP/1.1 403 Forbidden');
  assert.equal(await answerTo(`Host: ${host}`, 'Content-Type: text/plain', good), 'HTTP/1.1 415 Unsupported Media Type');
});

test('the connection goes on after a refusal whose body was not read: the next call on it is answered', async (t) => {
  const { url } = await startRightPerson(t, provider);
  const { host, port, pathname } = new URL(url);
  const token = await provider.token('ada', { audience: url });
  const call = JSON.stringify(toolCall('free'));
  const socket = connectSocket(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  const large = 'x'.repeat(200_000);
  const head = (length: number, more = '') => `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${more}Content-Length: ${String(length)}\r\n\r\n`;
  socket.write(head(large.length) + large + head(call.length, `Authorization: Bearer ${token}\r\n`) + call);
  let said = '';
  for await (const chunk of socket) {
    said += String(chunk);
    if (said.split('HTTP/1.1 ').length === 3) break;
  }
  assert.deepEqual([...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]), ['401', '200']);
});

test('with a body of any size a known caller is served, and one too large is told so (H8)', async (t) => {
  const { url } = await startRightPerson(t, provider);
  const token = bearer(await provider.token('ada', { audience: url }));
  assert.equal((await post(url, toolCall('free'), token)).status, 200);
  assert.equal((await post(url, { ...toolCall('free'), padding: 'x'.repeat(9 * 1024 * 1024) }, token)).status, 413);
});
