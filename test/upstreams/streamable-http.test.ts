import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { createStreamableHttpUpstream } from '../../src/upstreams/streamable-http.ts';
import type { AnswerHandler } from '../../src/upstreams/upstream.ts';
import { freePort } from '../../src/operate/child-server.ts';
import { startRecorder } from '../kit/recorder.ts';

/** What a handler was told, in order, up to the end or the failure. */
function listen(): { readonly handler: AnswerHandler; readonly told: Promise<readonly unknown[]> } {
  const events: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
  const handler: AnswerHandler = {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, status) => { events.push(status); },
    onResponseData: (_controller, chunk) => { events.push(chunk.toString()); },
    onResponseEnd: () => { resolve([...events, 'end']); },
    onResponseError: (_controller, error) => { resolve([...events, 'code' in error ? error.code : error.name]); },
  };
  return { handler, told: promise };
}

async function send(url: URL, headers: string[] = [], timeoutMs = 5_000): Promise<readonly unknown[]> {
  const upstream = createStreamableHttpUpstream(url, timeoutMs);
  const { handler, told } = listen();
  upstream.send({ method: 'POST', headers, body: Buffer.from('{}') }, handler);
  const outcome = await told;
  await upstream.close();
  return outcome;
}

test('an answer comes as status, bytes and end, from the address with its path and query', async (t) => {
  const recorder = await startRecorder(() => ({ status: 201, body: 'yes' }));
  t.after(() => recorder.close());
  assert.deepEqual(await send(new URL(`${recorder.url}/a%2Fb?x=1&y`), ['x-one', '1', 'x-one', '2']), [201, 'yes', 'end']);
  assert.equal(recorder.requests[0]?.path, '/mcp/a%2Fb?x=1&y');
  assert.equal(recorder.requests[0].header('x-one'), '1, 2');
});

test('every failure goes to the handler and none is thrown: nobody there, no name, a header that cannot be sent, silence', async (t) => {
  const silent = await startRecorder(() => new Promise(() => undefined));
  t.after(() => silent.close());
  assert.deepEqual(await send(new URL(`http://127.0.0.1:${await freePort()}/`)), ['ECONNREFUSED']);
  assert.match(String((await send(new URL('http://no-such-host.invalid/')))[0]), /^(ENOTFOUND|EAI_AGAIN)$/);
  assert.deepEqual(await send(new URL(silent.url), ['x-bad', 'line\nbreak']), ['UND_ERR_INVALID_ARG']);
  assert.deepEqual(await send(new URL(silent.url), [], 50), ['UND_ERR_HEADERS_TIMEOUT']);
});

test('a certificate that nobody vouches for is refused before a byte of the request is sent', async (t) => {
  let requests = 0;
  const server = createServer({ key, cert }, () => { requests += 1; });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  assert.deepEqual(await send(new URL(`https://localhost:${port}/mcp`)), ['DEPTH_ZERO_SELF_SIGNED_CERT']);
  assert.equal(requests, 0);
});

/** A certificate of this test alone, signed by itself. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdDTDhVhMKSB8mpFF
6CJokl6m7htw47vGRXtj0HUlI6ChRANCAATjwCbyfTToR8CLAn4X5+MvJSbohHbV
8C9ZD7TSjZHR2fR+AXuwXoIVYVCcV+9wHbP5umhs5yGQ9iPqb2Ui4Q3n
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUFJq/p226qQcsa+dZUFSeLcXmtPwwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDIzNTIzMFoYDzIxMjYxMTA2
MjM1MjMwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATjwCbyfTToR8CLAn4X5+MvJSbohHbV8C9ZD7TSjZHR2fR+AXuwXoIV
YVCcV+9wHbP5umhs5yGQ9iPqb2Ui4Q3no28wbTAdBgNVHQ4EFgQU2UDsvY+PCKu6
OrkLn2qJE7t96aQwHwYDVR0jBBgwFoAU2UDsvY+PCKu6OrkLn2qJE7t96aQwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgZE95nux/nWY9ZZ6zv5ZdK5xEZtUiUAqhvJSu2ZAOqxkCIQDc
JqmxC9jjtmGxx8jYIy52Cvua4DxgknFtm4KN7QHrTw==
-----END CERTIFICATE-----`;
