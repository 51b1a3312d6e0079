/** Whoever may not call is told so on the headers: his body is never waited for, held or taken for a call. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { toolCall } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';

const secret = planted('a-proxy-secret');
const file = `identity: { proxyHeaders: { user: X-Forwarded-User, issuer: "https://sso.example.com", secretHeader: X-Proxy-Secret, secret: ${secret} } }`;
const call = JSON.stringify(toolCall('paid'));
const ada = `X-Forwarded-User: ada\r\nX-Proxy-Secret: ${secret}\r\n`;

interface Wire {
  readonly socket: Socket;
  /** Resolves with everything that came so far once it fits. */
  readonly until: (what: RegExp) => Promise<string>;
}

async function open(t: TestContext, url: string): Promise<Wire> {
  const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  await once(socket, 'connect');
  return {
    socket,
    async until(what) {
      while (!what.test(text)) await once(socket, 'data');
      return text;
    },
  };
}

function head(url: string, length: number, more = '', method = 'POST'): string {
  return `${method} /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${String(length)}\r\n${more}\r\n`;
}

test('a caller without identity gets her 401 before she has sent her body, a foreign Host or Origin its 403 (A9, A17)', async (t) => {
  const { url, upstream } = await startGateway(t, { file });
  const eightMiB = 8 * 1_024 * 1_024;
  const nobody = await open(t, url);
  nobody.socket.write(head(url, eightMiB));
  await nobody.until(/^HTTP\/1\.1 401 [^]*-32600/);
  const removing = await open(t, url);
  removing.socket.write(head(url, eightMiB, '', 'DELETE'));
  await removing.until(/^HTTP\/1\.1 401 /);
  const foreign = await open(t, url);
  foreign.socket.write(head(url, eightMiB, `${ada}Origin: https://evil.example\r\n`));
  await foreign.until(/^HTTP\/1\.1 403 /);
  const other = await open(t, url);
  other.socket.write(head('http://evil.example/', eightMiB, ada));
  await other.until(/^HTTP\/1\.1 403 /);
  assert.equal(upstream.requests.length, 0);
});

test('after a 401 the rest of the body is thrown away, and the connection serves the next call (A9)', async (t) => {
  const { url, proxy } = await startGateway(t, { file });
  const { socket, until } = await open(t, url);
  // What looks like a call inside the unread body is none.
  const hidden = `${head(url, call.length, ada)}${call}`;
  const body = hidden.padEnd(300_000, ' ');
  socket.write(head(url, body.length) + body.slice(0, 100_000));
  await until(/^HTTP\/1\.1 401 /);
  socket.write(body.slice(100_000) + head(url, call.length, ada) + call);
  const answers = await until(/HTTP\/1\.1 200 [^]*"result"/);
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401', 'HTTP/1.1 200']);
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'asked').length, 1);
});

test('calls that are sent behind one another are each answered for their own caller, in their order (A9)', async (t) => {
  const { url, proxy } = await startGateway(t, { file });
  const { socket, until } = await open(t, url);
  const own = head(url, call.length, ada) + call;
  const nobodys = head(url, call.length) + call;
  socket.write(nobodys + own + nobodys + own);
  const answers = await until(/(?:HTTP\/1\.1 [^]*){4}"result"/);
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401', 'HTTP/1.1 200', 'HTTP/1.1 401', 'HTTP/1.1 200']);
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'asked').length, 2);
});

test('a client that waits for “100 Continue” gets its answer, and a chunked body without an end holds up nothing (A9)', async (t) => {
  const { url } = await startGateway(t, { file });
  const polite = await open(t, url);
  polite.socket.write(head(url, call.length, 'Expect: 100-continue\r\n'));
  await polite.until(/HTTP\/1\.1 401 /);
  const known = await open(t, url);
  known.socket.write(head(url, call.length, `${ada}Expect: 100-continue\r\n`));
  await known.until(/^HTTP\/1\.1 100 /);
  known.socket.write(call);
  await known.until(/HTTP\/1\.1 200 [^]*"result"/);
  const endless = await open(t, url);
  endless.socket.write(head(url, 0).replace('Content-Length: 0', 'Transfer-Encoding: chunked') + '5\r\n{"jso\r\n');
  await endless.until(/^HTTP\/1\.1 401 /);
});
