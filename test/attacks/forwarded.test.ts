/** The local identity takes whoever reaches the loopback listener for its one person; what came through another proxy is refused (A16, A25). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, linkIn, send } from '../kit/mcp-client.ts';

const marks = {
  Forwarded: 'for=203.0.113.7',
  'Forwarded-For': '203.0.113.7',
  Via: '1.1 ingress',
  'X-Forwarded': 'for=203.0.113.7',
  'X-Forwarded-For': '203.0.113.7',
  'X-Forwarded-Host': 'mcp.example.com',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Port': '443',
  'X-Forwarded-Server': 'ingress',
  'X-Forwarded-User': 'mallory',
  'X-Real-IP': '203.0.113.7',
  'X-Client-IP': '203.0.113.7',
  'X-Cluster-Client-IP': '203.0.113.7',
  'CF-Connecting-IP': '203.0.113.7',
  'True-Client-IP': '203.0.113.7',
};

test('a request that came through another proxy is 403 on every method, whichever header shows it, and nothing is forwarded (A16)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const before = upstream.requests.length;
  for (const [name, value] of Object.entries(marks)) {
    for (const spelling of [{ [name]: value }, { [name.toLowerCase()]: '' }, { [name.toUpperCase()]: [value, value] }]) {
      const called = await client.call('free', {}, spelling);
      assert.deepEqual([called.status, called.message.error?.code], [403, -32600], JSON.stringify(spelling));
      for (const method of ['GET', 'DELETE'] as const) assert.equal((await client.bare(method, spelling)).status, 403, `${method} ${name}`);
    }
  }
  assert.equal(upstream.requests.length, before);
  assert.equal((await client.call('free')).status, 200);
});

test('nor does a forwarded browser see or answer the page of a link (A16)', async (t) => {
  const { url, proxy } = await startGateway(t);
  const link = linkIn((await (await connect(url)).call('paid')).text);
  for (const [name, value] of Object.entries(marks)) {
    assert.equal((await send(link, { method: 'GET', headers: { [name]: value } })).status, 403, name);
    const body = 'action=give&token=sk-of-mallory';
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: proxy.origin, [name]: value };
    assert.equal((await send(link, { headers: form, body })).status, 403, name);
  }
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked']);
});
