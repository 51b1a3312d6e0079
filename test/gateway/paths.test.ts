/** Where the proxy answers, and to which pages: paths of upstreams, the public URL's own path, preflights. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, linkIn, post, send, toolCall, urlMode } from '../kit/mcp-client.ts';
import { openPage } from '../kit/proxy.ts';

const sessionless = { upstream: { sessions: false } } as const;

test('a single upstream answers at /mcp and at its own path, with or without a slash at the end', async (t) => {
  const { proxy, upstream } = await startGateway(t, sessionless);
  for (const path of ['/mcp', '/mcp/', '/main/mcp', '/main/mcp/']) assert.equal((await post(proxy.origin + path, toolCall('free'))).status, 200, path);
  assert.deepEqual([...new Set(upstream.requests.map(({ path }) => path))], ['/mcp']);
});

test('with several upstreams each answers at its own path only, as the file says', async (t) => {
  const { proxy } = await startGateway(t, { ...sessionless, file: 'upstreams: { one: { url: "${UPSTREAM}" }, two: { url: "${UPSTREAM}", path: /deep/er } }' });
  for (const [path, status] of [['/one/mcp', 200], ['/deep/er', 200], ['/mcp', 404], ['/two/mcp', 404]] as const) {
    assert.equal((await post(proxy.origin + path, toolCall('free'))).status, status, path);
  }
});

test('every other path and method is 404, nothing is forwarded, and no answer repeats what was asked', async (t) => {
  const { proxy, upstream } = await startGateway(t, sessionless);
  const paths = ['/mcp/x', '/MCP', '/main', '/mcp%2f', '//mcp', '/.well-known/openid-configuration', '/<script>alert(1)</script>', '/connect', '/healthz', '/metrics', '/mcp;x=1'];
  for (const path of paths) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answer = await send(`${proxy.origin}${path}?canary=1`, { method, headers: { 'Content-Type': 'application/json' }, body: '{}' });
      assert.equal(answer.status, 404, `${method} ${path}`);
      assert.equal(answer.text.includes('canary') || answer.text.includes('<script'), false, answer.text);
      assert.equal(answer.headers['content-type']?.includes('html') ?? false, false);
    }
  }
  for (const method of ['POST', 'DELETE']) assert.equal((await send(`${proxy.origin}/`, { method, headers: { 'Content-Type': 'application/json' }, body: '{}' })).status, 404, method);
  for (const method of ['PUT', 'PATCH', 'HEAD', 'TRACE']) assert.equal((await send(`${proxy.origin}/mcp`, { method, body: '{}' })).status, 404, method);
  assert.deepEqual(upstream.requests, []);
});

test("links begin with the public URL and its path, which a proxy in front may or may not take away", async (t) => {
  const { proxy } = await startGateway(t, { file: 'server: { listen: "${LISTEN}", admin: false, drain: 1s, publicUrl: "${ORIGIN}/tools/", pagesPath: /ask }' });
  for (const base of ['', '/tools']) {
    const client = await connect(`${proxy.origin}${base}/mcp`);
    const link = linkIn((await client.call('paid')).text);
    assert.match(link, new RegExp(`^${proxy.origin}/tools/ask/connect/[\\w-]{22,}$`));
    for (const url of [link, link.replace('/tools/', '/')]) {
      const { status, html } = await openPage(url);
      assert.equal(status, 200, url);
      for (const [, href] of html.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)) assert.match(href ?? '', /^\/tools\/ask\//);
    }
    assert.equal((await openPage(link.replace('/ask/', '/'))).status, 404);
  }
});

test('a preflight is 204 with the methods, and with the headers that were asked for where the page may call; it opens nothing upstream', async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const plain = await send(url, { method: 'OPTIONS' });
  assert.deepEqual([plain.status, plain.text, plain.headers.allow], [204, '', 'POST, GET, DELETE, OPTIONS']);
  assert.equal(plain.headers['access-control-allow-origin'], undefined);
  const { status, headers } = await send(url, {
    method: 'OPTIONS',
    headers: { Origin: proxy.origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type, mcp-session-id, authorization' },
  });
  assert.equal(status, 204);
  assert.equal(headers['access-control-allow-origin'], proxy.origin);
  assert.equal(headers['access-control-allow-headers'], 'content-type, mcp-session-id, authorization');
  assert.equal(headers['access-control-allow-methods'], 'POST, GET, DELETE, OPTIONS');
  assert.equal(headers['access-control-allow-credentials'], undefined);
  assert.equal(headers.vary, 'Origin');
  assert.deepEqual(upstream.requests, []);
});

test('a page of an allowed origin can read the session id of its handshake, errors and refusals; caches keep origins apart', async (t) => {
  const { url } = await startGateway(t, { file: 'server: { listen: "${LISTEN}", admin: false, drain: 1s, allowedOrigins: ["https://app.example.com"] }' });
  const page = { Origin: 'https://app.example.com' };
  const client = await connect(url, { capabilities: urlMode });
  const answers = [
    await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }, page),
    await client.call('free', {}, page),
    await client.call('paid', {}, page),
    await post(url, '{', page),
    await client.call('free', {}, { ...page, 'Mcp-Session-Id': 'unknown' }),
  ];
  for (const { headers } of answers) {
    assert.equal(headers['access-control-allow-origin'], 'https://app.example.com');
    assert.equal(headers['access-control-expose-headers'], 'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after');
    assert.equal(headers.vary, 'Origin');
  }
});
