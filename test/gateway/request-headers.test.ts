/** What of a request's headers goes upstream: the client's, the operator's and the person's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, sendForHead, urlMode } from '../kit/mcp-client.ts';
import type { RecordedRequest } from '../kit/recorder.ts';

function namesOf(request: RecordedRequest | undefined): string[] {
  return (request?.rawHeaders ?? []).filter((_, at) => at % 2 === 0).sort();
}

test('an allow-list goes upstream, MCP’s own headers among it, and nothing else that a client sends', async (t) => {
  const { url, upstream } = await startGateway(t, { with: 'forwardHeaders: [X-Tenant, x_legacy]' });
  const client = await connect(url);
  await client.call('free', {}, {
    'Mcp-Method': 'tools/call', 'Mcp-Name': 'free', 'Mcp-Param-Region': 'eu', 'Last-Event-ID': '7',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1', baggage: 'b=2',
    'X-Tenant': 'one', X_Legacy: 'two',
    'X-Other': 'no', X_Tenant: 'no', Mcp_Name: 'no', 'mcp-session_id': 'no', Cookie: 'no', Referer: 'no', 'User-Agent': 'no', 'Accept-Language': 'no', 'Accept-Encoding': 'br', TE: 'trailers', DNT: '1',
  });
  const arrived = upstream.requests.at(-1);
  assert.deepEqual(namesOf(arrived), [
    'accept', 'accept-encoding', 'baggage', 'connection', 'content-length', 'content-type', 'host', 'last-event-id', 'mcp-method', 'mcp-name', 'mcp-param-region',
    'mcp-protocol-version', 'mcp-session-id', 'traceparent', 'tracestate', 'x-tenant', 'x_legacy',
  ]);
  assert.deepEqual(['mcp-param-region', 'x-tenant', 'x_legacy', 'tracestate', 'accept-encoding'].map((name) => arrived?.header(name)), ['eu', 'one', 'two', 'a=1', 'identity']);
});

test('the upstream gets its own Host and no Origin, so that its own check passes (H7)', async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const client = await connect(url, {});
  const page = { Origin: proxy.origin, Referer: `${proxy.origin}/`, 'Sec-Fetch-Site': 'same-origin' };
  await client.call('free', {}, page);
  await client.bare('GET', page);
  await client.bare('DELETE', page);
  for (const request of upstream.requests) {
    assert.equal(request.header('host'), new URL(upstream.url).host);
    assert.equal(request.header('origin'), undefined);
    assert.equal(request.header('referer'), undefined);
  }
  assert.deepEqual(upstream.requests.map(({ method }) => method), ['POST', 'POST', 'GET', 'DELETE']);
});

test('a header that may come once and came twice is refused, and nothing is forwarded', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const before = upstream.requests.length;
  for (const name of ['Content-Type', 'Last-Event-ID', 'traceparent', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']) {
    const value = name === 'Content-Type' ? 'application/json' : '1';
    const { status, message } = await client.call('free', {}, { [name.toLowerCase()]: [value, value], ...(name === 'Content-Type' ? { 'Content-Type': value } : {}) });
    assert.deepEqual([status, message.id, message.error?.code], [400, 1, -32600], name);
  }
  assert.equal(upstream.requests.length, before);
});

test("the operator's own headers go with calls that carry no user credential, and only with those", async (t) => {
  const { url, upstream } = await startGateway(t, { with: 'headers: { Authorization: "Bearer operator-token", X-Team: tools }' });
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  await client.call('free');
  assert.deepEqual(['authorization', 'x-team', 'x-key'].map((name) => upstream.requests.at(-1)?.header(name)), ['Bearer operator-token', 'tools', undefined]);
  await client.call('paid');
  assert.deepEqual(['authorization', 'x-team', 'x-key'].map((name) => upstream.requests.at(-1)?.header(name)), [undefined, undefined, key]);
  await client.bare('GET');
  await client.bare('DELETE');
  assert.deepEqual(upstream.requests.slice(-2).map((request) => [request.method, request.header('authorization')]), [['GET', 'Bearer operator-token'], ['DELETE', 'Bearer operator-token']]);
});

test('`attach: required` sends a key where a rule asks and nowhere else; `attach: always` with every message of hers, GET and DELETE too (E7, E8)', async (t) => {
  for (const attach of ['required', 'always'] as const) {
    const { url, upstream } = await startGateway(t, { with: `attach: ${attach}`, upstream: { get: 'open' } });
    const client = await connect(url, { capabilities: urlMode });
    assert.deepEqual(upstream.requests.map((request) => request.header('x-key')), [undefined]); // nothing to attach yet
    await provide(client, 'paid', { token: key });
    const before = upstream.requests.length;
    const again = await connect(url, { capabilities: urlMode });
    for (const method of ['ping', 'tools/list', 'resources/read', 'prompts/get']) await again.post({ jsonrpc: '2.0', id: 1, method, params: {} });
    await again.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await again.post({ jsonrpc: '2.0', id: 9, result: {} });
    await again.call('free');
    await again.call('paid');
    const stream = await sendForHead(url, { method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': again.session ?? '' } });
    await upstream.request(({ method }) => method === 'GET');
    stream.destroy();
    await again.bare('DELETE');
    const keys = upstream.requests.slice(before).map((request) => request.header('x-key'));
    assert.deepEqual(keys, attach === 'always' ? keys.map(() => key) : keys.map((_, at) => (at === 8 ? key : undefined)), attach);
    assert.equal(keys.length, 11);
  }
});

test('a use of the key is on the audit trail wherever it goes, GET and DELETE included', async (t) => {
  const { url, proxy } = await startGateway(t, { with: 'attach: always' });
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  await client.call('paid');
  await client.bare('GET');
  await client.bare('DELETE');
  const uses = proxy.audit.filter(({ audit }) => audit === 'used').map(({ tool, credential, subject }) => [tool, credential, subject]);
  assert.deepEqual(uses, [['paid', 'key', 'ada'], [undefined, 'key', 'ada'], [undefined, 'key', 'ada']]);
  assert.equal(JSON.stringify(proxy.audit).includes(key), false);
});

test("the upstream's address keeps its query, which no log line repeats (K4)", async (t) => {
  const { url, proxy, upstream } = await startGateway(t, { file: 'upstreams: { main: { url: "${UPSTREAM}?api_key=operator-secret&x=%2F", rules: [{ tools: [paid], requires: [key] }] } }\nlog: { level: trace }' });
  const client = await connect(url);
  await client.call('free');
  await client.call('paid');
  assert.deepEqual([...new Set(upstream.requests.map(({ path }) => path))], ['/mcp?api_key=operator-secret&x=%2F']);
  await upstream.close();
  assert.equal((await client.call('free')).message.error?.code, 1502);
  await client.bare('GET');
  await client.bare('DELETE');
  assert.equal(proxy.log.join('').includes('operator-secret'), false);
  assert.notEqual(proxy.log.length, 0);
});

test("a query that the client puts on the proxy's address goes nowhere, not even into the log (K4)", async (t) => {
  const { url, proxy, upstream } = await startGateway(t);
  const client = await connect(`${url}?access_token=client-secret`);
  assert.equal((await client.call('free')).status, 200);
  assert.deepEqual([...new Set(upstream.requests.map(({ path }) => path))], ['/mcp']);
  assert.equal([...proxy.log, JSON.stringify(proxy.audit)].join('').includes('client-secret'), false);
});
