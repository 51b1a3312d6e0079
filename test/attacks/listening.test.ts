/** Listening to a protected resource needs what reading it needs, also in the modern era, where it is one filter among others (A8). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { post } from '../kit/mcp-client.ts';
import { modernHeaders, modernRequest, modernServer } from '../kit/modern.ts';

test('a modern client does not listen to a protected resource without its credential, however it names it (A8)', async (t) => {
  const file = 'upstreams: { main: { url: "${UPSTREAM}", rules: [{ resources: ["docs://vault/*"], requires: [key] }] } }';
  const { url, upstream } = await startGateway(t, { upstream: modernServer(), file });
  const method = 'subscriptions/listen';
  const listenWith = async (notifications: unknown, said = method) => (await post(url, modernRequest(said, { notifications }), modernHeaders(said))).message.error?.code;
  await listenWith({ toolsListChanged: true, resourceSubscriptions: ['docs://public/a'] });
  const before = upstream.requests.length;
  assert.ok(upstream.requests.some((request) => request.body.includes(method)));
  const listens = () => upstream.requests.slice(before).filter((request) => request.body.includes('resourceSubscriptions'));
  assert.equal(await listenWith({ resourceSubscriptions: ['docs://public/a', 'docs://vault/a'] }), -32021);
  assert.equal(await listenWith({ resourceSubscriptions: ['docs://v%61ult/a'] }), -32021);
  for (const filter of ['docs://vault/a', [['docs://vault/a']], Array.from({ length: 501 }, () => 'docs://public/a')]) {
    assert.notEqual(await listenWith({ resourceSubscriptions: filter }), undefined);
  }
  assert.notEqual(await listenWith({ ResourceSubscriptions: ['docs://vault/a'] }), undefined);
  assert.notEqual(await listenWith({ resourceSubscriptions: ['docs://vault/a'] }, 'Subscriptions/Listen'), undefined);
  const twice = JSON.stringify(modernRequest(method, { notifications: { resourceSubscriptions: [] } })).replace('"resourceSubscriptions":[]', '"resourceSubscriptions":[],"resourceSubscriptions":["docs://vault/a"]');
  assert.equal((await post(url, twice, modernHeaders(method))).status, 400);
  assert.deepEqual(listens(), []);
});
