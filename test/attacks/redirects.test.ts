/** Attack A12: an upstream redirects a call, with the person's key in it, to another host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide } from '../kit/mcp-client.ts';
import { json, startRecorder } from '../kit/recorder.ts';

const statuses = [300, 301, 302, 303, 304, 305, 307, 308];

test('a redirect is an error 1502 to the client, and nothing is sent to where it points (A12)', async (t) => {
  const thief = await startRecorder(() => json({ jsonrpc: '2.0', id: 1, result: {} }));
  t.after(() => thief.close());
  const { url, upstream, proxy } = await startGateway(t);
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  for (const status of statuses) {
    upstream.setBehaviour(() => ({ status, headers: { location: thief.url } }));
    for (const tool of ['paid', 'free']) {
      const answer = await client.call(tool);
      assert.deepEqual([answer.status, answer.message.id, answer.message.error?.code], [200, 1, 1502], `${status} ${tool}`);
      assert.equal(answer.headers.location, undefined);
      assert.equal(answer.text.includes(thief.url), false);
    }
  }
  assert.deepEqual(thief.requests, []);
  assert.equal(proxy.log.join('').includes(thief.url), false);
});

test('a redirect with a JSON-RPC body, of a notification, of the handshake, of GET and of DELETE is followed nowhere either (A12)', async (t) => {
  const thief = await startRecorder(() => json({ jsonrpc: '2.0', id: 1, result: {} }));
  t.after(() => thief.close());
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  upstream.setBehaviour(() => ({ status: 307, headers: { location: thief.url, 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"result":{}}' }));
  assert.equal((await client.call('free')).message.error?.code, 1502);
  assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/progress' })).status, 502);
  assert.equal((await client.bare('GET')).status, 405);
  assert.equal((await client.bare('DELETE')).status, 502);
  const { opened } = await connect(url);
  assert.deepEqual([opened.status, opened.message.error?.code, opened.headers['mcp-session-id']], [200, 1502, undefined]);
  assert.deepEqual(thief.requests, []);
});
