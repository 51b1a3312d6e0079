/** Attack A17: a page of another site reaches the proxy by a Host or Origin that is not its own (DNS rebinding). */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { send, toolCall } from '../kit/mcp-client.ts';

const methods = ['POST', 'GET', 'DELETE', 'OPTIONS'];
const body = JSON.stringify(toolCall('paid'));
const base = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

test('a foreign Host is 403 on every method, before anything is forwarded or any state is made (A17)', async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const { port } = new URL(url);
  const foreign = [
    'evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `evil127.0.0.1:${port}`, `localhost.evil.example:${port}`,
    '127.0.0.1', '127.0.0.1:1', `127.0.0.1:${port}0`, `0.0.0.0:${port}`, `127.0.0.2:${port}`, `127.1:${port}`, `2130706433:${port}`,
    `[::ffff:127.0.0.1]:${port}`, `user@127.0.0.1:${port}`, `127.0.0.1:${port}/`, `127.0.0.1:${port},evil.example`, `127.0.0.1.:${port}`, '',
  ];
  for (const method of methods) {
    for (const host of foreign) {
      const answer = await send(url, { method, headers: { ...base, Host: host }, ...(method === 'POST' ? { body } : {}) });
      assert.deepEqual([answer.status, answer.message.error?.code], [403, -32600], `${method} ${host}`);
    }
  }
  assert.deepEqual(upstream.requests, []);
  assert.deepEqual(proxy.audit, []);
});

test('a foreign Origin is 403 on every method, before anything is forwarded or any state is made (A17)', async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const { port } = new URL(url);
  const foreign = [
    'null', '', 'https://evil.example', `http://evil.example:${port}`, `https://127.0.0.1:${port}`, 'http://127.0.0.1', 'http://127.0.0.1:1',
    `http://127.0.0.1:${port}/`, `http://127.0.0.1:${port}.evil.example`, `http://127.0.0.1.evil.example:${port}`, `HTTP://127.0.0.1:${port}`,
    `http://x@127.0.0.1:${port}`, `127.0.0.1:${port}`, `http://127.0.0.1:${port}, https://evil.example`, '*', 'file://',
  ];
  for (const method of methods) {
    for (const origin of foreign) {
      const answer = await send(url, { method, headers: { ...base, Origin: origin }, ...(method === 'POST' ? { body } : {}) });
      assert.deepEqual([answer.status, answer.message.error?.code], [403, -32600], `${method} ${origin}`);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  }
  assert.deepEqual(upstream.requests, []);
  assert.deepEqual(proxy.audit, []);
});

test('two Origins or two Hosts are refused, whichever comes first and even when both are our own (A17)', async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const { host } = new URL(url);
  for (const method of ['POST', 'GET', 'DELETE']) {
    const attempt = (headers: object) => send(url, { method, headers: { ...base, ...headers }, ...(method === 'POST' ? { body } : {}) });
    for (const origins of [[proxy.origin, 'https://evil.example'], ['https://evil.example', proxy.origin], [proxy.origin, proxy.origin]]) {
      assert.equal((await attempt({ Origin: origins })).status, 403, `${method} ${origins.join()}`);
    }
    for (const hosts of [[host, 'evil.example'], ['evil.example', host], [host, host]]) {
      const { status } = await attempt({ Host: hosts });
      assert.ok(status === 400 || status === 403, `${method} ${hosts.join()}: ${status}`);
    }
  }
  assert.deepEqual(upstream.requests, []);
  assert.deepEqual(proxy.audit, []);
});

test('no question is left behind by a request that was refused for its address (A17)', async (t) => {
  const { url, proxy } = await startGateway(t, { file: 'vault: { store: "memory:", keys: ["${KEY}"] }' });
  await send(url, { headers: { ...base, Origin: 'https://evil.example' }, body });
  assert.equal(proxy.log.join('').includes('asked for a credential'), false);
  assert.deepEqual(readdirSync(proxy.folder), ['elicitgate.yaml']);
});

test('what the file allows is served, and nothing that looks like it (A17)', async (t) => {
  const { url, proxy } = await startGateway(t, {
    file: 'server: { listen: "${LISTEN}", admin: false, drain: 1s, allowedHosts: [mcp.internal, "mcp.internal:8443"], allowedOrigins: ["https://app.example.com"] }',
  });
  const { port } = new URL(url);
  const status = async (headers: Record<string, string>) => (await send(url, { method: 'OPTIONS', headers })).status;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`, 'mcp.internal', 'MCP.internal', 'mcp.internal:8443']) {
    assert.equal(await status({ Host: host }), 204, host);
  }
  for (const host of ['mcp.internal:1', 'mcp.internal.evil.example', 'app.example.com']) assert.equal(await status({ Host: host }), 403, host);
  for (const origin of ['https://app.example.com', `http://localhost:${port}`, proxy.origin]) assert.equal(await status({ Origin: origin }), 204, origin);
  for (const origin of ['http://app.example.com', 'https://app.example.com:444', 'https://app.example.com.evil.example', 'https://mcp.internal']) {
    assert.equal(await status({ Origin: origin }), 403, origin);
  }
});
