/** Attack A28: an upstream that uses the proxy's origin for cookies, logins, CORS grants or pages of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, send } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';

const hostile = {
  'set-cookie': ['session=stolen; Path=/', '__Host-csrf=known; Secure; Path=/'],
  'www-authenticate': 'Bearer resource_metadata="https://evil.example/"',
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'set-cookie',
  location: 'https://evil.example/',
  refresh: '0; url=https://evil.example/',
  link: '<https://evil.example/x.css>; rel=stylesheet',
  'content-security-policy': 'default-src *',
  'strict-transport-security': 'max-age=0',
  'clear-site-data': '"*"',
  'alt-svc': 'h3="evil.example:443"',
  'service-worker-allowed': '/',
  'content-disposition': 'attachment; filename=x.html',
  'x-powered-by': 'evil',
  server: 'evil',
};

/** Names of an answer's headers that are not the connection's own. */
function namesOf(rawHeaders: readonly string[]): string[] {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return names.filter((name) => !['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name)).sort();
}

test("of an upstream's headers only the media type comes to the client (A28)", async (t) => {
  const { url } = await startGateway(t, { upstream: { headers: hostile } });
  const client = await connect(url);
  assert.deepEqual(namesOf(client.opened.rawHeaders), ['content-type', 'mcp-session-id']);
  assert.deepEqual(namesOf((await client.call('free')).rawHeaders), ['content-type']);
  assert.deepEqual(namesOf((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).rawHeaders), []);
  assert.deepEqual(namesOf((await client.bare('GET')).rawHeaders), ['allow', 'content-type']);
  assert.deepEqual(namesOf((await client.bare('DELETE')).rawHeaders), []);
});

test("an event stream carries our own streaming headers and nothing of the upstream's (A28)", async (t) => {
  const { url } = await startGateway(t, { upstream: { answers: 'sse', headers: hostile } });
  const client = await connect(url);
  assert.deepEqual(namesOf(client.opened.rawHeaders), ['cache-control', 'content-type', 'mcp-session-id', 'x-accel-buffering']);
  const { rawHeaders, headers } = await client.call('free');
  assert.deepEqual(namesOf(rawHeaders), ['cache-control', 'content-type', 'x-accel-buffering']);
  assert.equal(headers['content-type'], 'text/event-stream');
});

test('CORS grants are our own, whatever the upstream grants (A28)', async (t) => {
  const { url, proxy } = await startGateway(t, { upstream: { headers: hostile } });
  const client = await connect(url);
  const { headers } = await client.call('free', {}, { Origin: proxy.origin });
  assert.equal(headers['access-control-allow-origin'], proxy.origin);
  assert.equal(headers['access-control-allow-credentials'], undefined);
  assert.equal(headers['access-control-expose-headers'], 'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after');
});

const pages = ['text/html', 'text/html; charset=utf-8', 'application/xhtml+xml', 'image/svg+xml', 'text/xml', 'text/plain', 'application/javascript', 'application/jsonp', 'text/event-stream-x', 'application/json,text/html', ''];

test('an answer of another media type, HTML above all, is an error 1502 (A28)', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { sessions: false } });
  const client = await connect(url);
  for (const status of [200, 400, 404, 500]) {
    for (const type of pages) {
      upstream.setBehaviour(() => ({ status, headers: { 'content-type': type, ...hostile }, body: '<script>alert(1)</script>' }));
      const answer = await client.call('free');
      assert.deepEqual([answer.status, answer.headers['content-type'], answer.message.error?.code], [200, 'application/json', 1502], `${status} ${type}`);
      assert.equal(answer.text.includes('script'), false);
    }
  }
});

test("an upstream's 401 and 403 never reach the client as such: no login of its own is asked for (A28)", async (t) => {
  const { url, upstream } = await startGateway(t);
  for (const status of [401, 403]) {
    for (const body of ['', '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in"}}']) {
      upstream.setBehaviour(mcpServer());
      const client = await connect(url);
      upstream.setBehaviour(() => ({ status, headers: { ...hostile, 'content-type': 'application/json' }, body }));
      const answer = await client.call('free');
      assert.deepEqual([answer.status, answer.message.error?.code, answer.headers['www-authenticate']], [200, 1502, undefined]);
      const notified = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      assert.deepEqual([notified.status, notified.headers['www-authenticate']], [502, undefined]);
      assert.equal((await client.bare('GET')).status, 405);
      assert.equal((await client.bare('DELETE')).status, 502);
    }
  }
});

test('the client sees no answer header of a preflight but ours (A28)', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { headers: hostile } });
  const answer = await send(url, { method: 'OPTIONS' });
  assert.equal(answer.status, 204);
  assert.deepEqual(upstream.requests, []);
});

test('of the media type only the usual charset comes along: no parameter carries anything to the client (A28, A10)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const type = async (sent: string) => {
    upstream.setBehaviour(() => ({ headers: { 'content-type': sent }, body: '{"jsonrpc":"2.0","id":1,"result":{}}' }));
    const { headers, text } = await client.call('free');
    assert.equal(text, '{"jsonrpc":"2.0","id":1,"result":{}}');
    return headers['content-type'];
  };
  for (const kept of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json; charset=ISO-8859-1']) assert.equal(await type(kept), kept);
  for (const cut of ['application/json; key=sk-canary', 'application/json; charset=sk-canary', 'application/json; charset=utf-8; x=sk-canary', 'application/json;']) {
    assert.equal(await type(cut), 'application/json');
  }
});
