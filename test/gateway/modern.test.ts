/** The modern era (2026-07-28): how a request is read, how it is asked for what is missing, and how it goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway, type GatewaySetup } from '../kit/gateway.ts';
import { post, send, sendForHead } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { modernCall, modernHeaders, modernRequest, modernServer, resultOf, type ModernOptions } from '../kit/modern.ts';
import { json, sse } from '../kit/recorder.ts';
import { submitPage } from '../kit/proxy.ts';

const accepted = (...keys: readonly string[]) => Object.fromEntries(keys.map((name) => [name, { action: 'accept' }]));
const gateway = (t: Parameters<typeof startGateway>[0], setup: GatewaySetup = {}) => startGateway(t, { upstream: modernServer(), ...setup });
const retry = (requestState: unknown, inputResponses: unknown = accepted('key')): ModernOptions => ({ id: 2, params: { requestState, inputResponses } });

test('headers that are missing, malformed or say something else than the body are refused with -32020', async (t) => {
  const { url, upstream } = await gateway(t);
  const right = modernHeaders('tools/call', 'free');
  const rows: (readonly [Record<string, string>, string])[] = [
    [{ ...right, 'MCP-Protocol-Version': '2025-11-25' }, 'another version'],
    [{ ...right, 'Mcp-Method': 'tools/list' }, 'another method'],
    [{ ...right, 'Mcp-Name': 'paid' }, 'another name'],
    [{ ...right, 'Mcp-Name': 'Free' }, 'another case'],
    [{ ...right, 'Mcp-Name': '=?base64?ZnJlZQ=?=' }, 'broken base64'],
    [{ ...right, 'Mcp-Name': '=?base64?cGFpZA==?=' }, 'another name in base64'],
    [{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call' }, 'no name'],
    [{ 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Name': 'free' }, 'no method'],
    [{ 'Mcp-Method': 'tools/call', 'Mcp-Name': 'free' }, 'no version'],
  ];
  for (const [headers, what] of rows) {
    const answer = await post(url, modernRequest('tools/call', { name: 'free' }), headers);
    assert.deepEqual([answer.status, answer.message.error?.code, answer.message.id], [400, -32020, 1], what);
  }
  const task = await post(url, modernRequest('tasks/get', { taskId: 'a' }), modernHeaders('tasks/get', 'b'));
  assert.deepEqual([task.status, task.message.error?.code], [400, -32020]);
  assert.equal(upstream.requests.length, 0);
  const encoded = await post(url, modernRequest('tools/call', { name: 'free' }), { ...right, 'Mcp-Name': '=?base64?ZnJlZQ==?=' });
  assert.equal(encoded.text.includes('"free"'), true);
});

test('a request without its version or its capabilities in _meta is refused with -32602', async (t) => {
  const { url } = await gateway(t);
  const metas = [undefined, { 'io.modelcontextprotocol/clientCapabilities': {} }, { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }, { 'io.modelcontextprotocol/protocolVersion': 1, 'io.modelcontextprotocol/clientCapabilities': {} }];
  for (const _meta of metas) {
    const answer = await post(url, { jsonrpc: '2.0', id: 'x', method: 'server/discover', params: { _meta } }, modernHeaders('server/discover'));
    assert.deepEqual([answer.status, answer.message.error?.code, answer.message.id], [400, -32602, 'x'], JSON.stringify(_meta));
  }
});

test('an unknown version is refused with the versions that both sides know; at a legacy upstream it passes', async (t) => {
  const modern = await gateway(t);
  const options = { version: '2031-01-01' };
  const refused = await modernCall(modern.url, 'free', {}, options);
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.message.error, { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28', '2025-11-25'], requested: '2031-01-01' } });
  const legacy = await startGateway(t, { upstream: () => ({ status: 400, headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"theirs"}}' }) });
  const passed = await modernCall(legacy.url, 'free', {}, options);
  assert.deepEqual([passed.status, passed.message.error?.message], [400, 'theirs']);
});

test('what an upstream lists as its versions is cut to those that are known here', async (t) => {
  const { url } = await gateway(t);
  const { message } = await post(url, modernRequest('server/discover', {}), modernHeaders('server/discover'));
  assert.deepEqual((message.result as { supportedVersions?: unknown }).supportedVersions, ['2026-07-28', '2025-11-25']);
});

test('a modern client is asked with an input_required result, and once the key is there its retry runs with it', async (t) => {
  const { url, upstream, proxy } = await gateway(t);
  const asked = await modernCall(url, 'paid', { big: 1 });
  const { resultType, inputRequests, requestState } = resultOf(asked);
  assert.deepEqual([asked.status, asked.headers['content-type'], resultType], [200, 'application/json', 'input_required']);
  assert.deepEqual(Object.keys(inputRequests ?? {}), ['key']);
  const { method, params } = inputRequests?.['key'] ?? {};
  assert.equal(method, 'elicitation/create');
  assert.deepEqual(Object.keys(params ?? {}), ['mode', 'message', 'url']);
  assert.equal(params?.mode, 'url');
  assert.equal(upstream.requests.some((request) => request.body.includes('tools/call')), false);
  assert.equal((await submitPage(params.url, { token: key })).status, 200);
  const done = await modernCall(url, 'paid', { big: 1 }, retry(requestState));
  assert.deepEqual(resultOf(done).content, [{ type: 'text', text: 'paid' }]);
  const arrived = await upstream.request((request) => request.body.includes('tools/call'));
  assert.equal(arrived.header('x-key'), key);
  assert.deepEqual(Object.keys((JSON.parse(arrived.body.toString()) as { params: object }).params), ['name', 'arguments', '_meta']);
  const audited = proxy.audit.find(({ audit }) => audit === 'asked');
  assert.deepEqual([audited?.['rung'], audited?.['clientName']], ['input-required', 'modern-client']);
});

test('numbers beyond 2^53 keep their digits when our part of a request is taken out', async (t) => {
  const { url, upstream } = await gateway(t);
  const asked = resultOf(await modernCall(url, 'paid'));
  await submitPage(asked.inputRequests?.['key']?.params.url ?? '', { token: key });
  const body = JSON.stringify(modernRequest('tools/call', { name: 'paid', arguments: {}, inputResponses: { key: { action: 'accept' }, other: 'NUMBER' }, requestState: asked.requestState })).replace('"NUMBER"', '9007199254740993');
  assert.equal((await post(url, body, modernHeaders('tools/call', 'paid'))).status, 200);
  const arrived = await upstream.request((request) => request.body.includes('tools/call'));
  assert.equal(arrived.body.includes('"inputResponses":{"other":9007199254740993}'), true);
});

test('a retry before the key is there is held, alive, and goes on in the same answer when it comes', async (t) => {
  const { url } = await gateway(t);
  const { inputRequests, requestState } = resultOf(await modernCall(url, 'paid'));
  const held = await sendForHead(url, held2(requestState));
  assert.equal(held.headers['content-type'], 'text/event-stream');
  await submitPage(inputRequests?.['key']?.params.url ?? '', { token: key });
  let whole = '';
  for await (const chunk of held) whole += String(chunk);
  assert.match(whole, /"id":2.*"text":"paid"/);
});

function held2(requestState: unknown) {
  const body = JSON.stringify(modernRequest('tools/call', { name: 'paid', arguments: {}, requestState, inputResponses: accepted('key') }, { id: 2 }));
  return { headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...modernHeaders('tools/call', 'paid') }, body };
}

test('a held retry that nobody answers gets a fresh question with a fresh link', async (t) => {
  const { url } = await gateway(t, { file: 'elicitation: { holdFor: 1s }' });
  const first = resultOf(await modernCall(url, 'paid'));
  const again = resultOf(await modernCall(url, 'paid', {}, retry(first.requestState)));
  assert.equal(again.resultType, 'input_required');
  assert.notEqual(again.inputRequests?.['key']?.params.url, first.inputRequests?.['key']?.params.url);
});

test('a retry that leaves the answer out is asked again at once, and unknown keys go to the upstream', async (t) => {
  const { url } = await gateway(t);
  const first = resultOf(await modernCall(url, 'paid'));
  for (const responses of [null, {}, { other: { action: 'accept' } }, 'x', []]) {
    assert.equal(resultOf(await modernCall(url, 'paid', {}, retry(first.requestState, responses))).resultType, 'input_required', JSON.stringify(responses));
  }
});

test('decline and cancel end the call with a result that says how to try again', async (t) => {
  const { url, upstream, proxy } = await gateway(t);
  const { requestState } = resultOf(await modernCall(url, 'paid'));
  for (const action of ['decline', 'cancel']) {
    const ended = resultOf(await modernCall(url, 'paid', {}, retry(requestState, { key: { action } })));
    assert.deepEqual([ended.resultType, ended.isError], ['complete', true]);
    assert.match(ended.content?.[0]?.text ?? '', /call the tool again/);
  }
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'declined').length, 2);
  assert.equal(upstream.requests.some((request) => request.body.includes('tools/call')), false);
  assert.equal(resultOf(await modernCall(url, 'paid')).resultType, 'input_required');
});

test('"not now" on the page ends the held retry', async (t) => {
  const { url } = await gateway(t);
  const { inputRequests, requestState } = resultOf(await modernCall(url, 'paid'));
  const held = await sendForHead(url, held2(requestState));
  await submitPage(inputRequests?.['key']?.params.url ?? '', { action: 'decline' });
  let whole = '';
  for await (const chunk of held) whole += String(chunk);
  assert.match(whole, /"isError":true/);
});

test('several missing credentials are asked for in one round', async (t) => {
  const credential = (header: string) => `{ kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { ${header}: "{token}" } } }`;
  const { url } = await gateway(t, { file: `credentials:\n  one: ${credential('X-One')}\n  two: ${credential('X-Two')}\nupstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [one, two] }] } }` });
  const { inputRequests, requestState } = resultOf(await modernCall(url, 'paid'));
  assert.deepEqual(Object.keys(inputRequests ?? {}), ['one', 'two']);
  for (const name of ['one', 'two']) await submitPage(inputRequests?.[name]?.params.url ?? '', { token: key });
  assert.deepEqual(resultOf(await modernCall(url, 'paid', {}, retry(requestState, accepted('one', 'two')))).content, [{ type: 'text', text: 'paid' }]);
});

test('the upstream’s own round on a protected call runs inside ours, and its state comes back to it', async (t) => {
  const { url, upstream } = await gateway(t, { file: 'upstreams: { main: { url: "${UPSTREAM}", rules: [{ tools: [rounds], requires: [key] }] } }' });
  const { inputRequests, requestState } = resultOf(await modernCall(url, 'rounds'));
  await submitPage(inputRequests?.['key']?.params.url ?? '', { token: key });
  const theirs = resultOf(await modernCall(url, 'rounds', {}, retry(requestState)));
  assert.deepEqual([theirs.resultType, Object.keys(theirs.inputRequests ?? {})], ['input_required', ['city']]);
  assert.notEqual(theirs.requestState, 'the upstream’s own');
  const done = resultOf(await modernCall(url, 'rounds', {}, retry(theirs.requestState, { city: { action: 'accept', content: {} } })));
  const arrived = JSON.parse(done.content?.[0]?.text ?? '') as Record<string, unknown>;
  assert.deepEqual([arrived['requestState'], arrived['inputResponses']], ['the upstream’s own', { city: { action: 'accept', content: {} } }]);
  assert.equal(upstream.requests.every((request) => !request.body.includes(theirs.requestState ?? '-')), true);
});

test('where no rule applies, state and answers are the upstream’s and pass untouched', async (t) => {
  const { url } = await gateway(t);
  const params = { requestState: 'theirs', inputResponses: { key: { action: 'decline' } } };
  const echoed = JSON.parse(resultOf(await modernCall(url, 'echo', {}, { params })).content?.[0]?.text ?? '') as Record<string, unknown>;
  assert.deepEqual([echoed['requestState'], echoed['inputResponses']], ['theirs', { key: { action: 'decline' } }]);
});

test('a client without URL mode gets the text, and with `fallback: refuse` the error that names what it lacks (E1)', async (t) => {
  const text = await gateway(t);
  for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { url: true } }]) {
    const told = resultOf(await modernCall(text.url, 'paid', {}, { capabilities }));
    assert.deepEqual([told.resultType, told.isError], ['complete', true]);
    assert.match(told.content?.[0]?.text ?? '', /\/connect\//);
  }
  const refusing = await gateway(t, { file: 'elicitation: { fallback: refuse }' });
  const refused = await modernCall(refusing.url, 'paid', {}, { capabilities: {} });
  assert.equal(refused.status, 400);
  assert.equal(refused.message.error?.code, -32021);
  assert.deepEqual(refused.message.error.data, { requiredCapabilities: { elicitation: { url: {} } } });
  assert.equal(refused.text.includes('/connect/'), false);
});

test('a modern request at a legacy upstream gets that upstream’s refusal, and a protected one never reaches it', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: mcpServer({ sessions: true }) });
  const discovered = await post(url, modernRequest('server/discover', {}), modernHeaders('server/discover'));
  assert.deepEqual([discovered.status, discovered.message.error?.code], [400, 1502]);
  const asked = await modernCall(url, 'paid');
  assert.deepEqual([asked.status, asked.message.error?.code], [400, -32600]);
  assert.equal(upstream.requests.some((request) => request.body.includes('tools/call')), false);
});

test('a modern client that hangs up ends the call at the upstream', async (t) => {
  const { url, upstream } = await gateway(t);
  upstream.setBehaviour(() => sse([': \n\n', new Promise(() => undefined)]));
  const answer = await sendForHead(url, { headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...modernHeaders('subscriptions/listen') }, body: JSON.stringify(modernRequest('subscriptions/listen', {})) });
  const listening = await upstream.request((request) => request.body.includes('subscriptions/listen'));
  answer.destroy();
  await listening.aborted;
});

test('errors of the proxy carry the status that they mean, and the upstream’s 404 passes as it is', async (t) => {
  const { url, upstream } = await gateway(t);
  const missing = await post(url, modernRequest('no/such', {}), modernHeaders('no/such'));
  assert.deepEqual([missing.status, missing.message.error?.code], [404, -32601]);
  upstream.setBehaviour(() => ({ status: 500 }));
  const broken = await modernCall(url, 'free', {}, { id: 0 });
  assert.deepEqual([broken.status, broken.message.error?.code, broken.message.id], [502, 1502, 0]);
});

test('the session header is ignored, and GET and DELETE are not there', async (t) => {
  const { url, upstream } = await gateway(t);
  assert.equal((await modernCall(url, 'free', {}, { headers: { 'Mcp-Session-Id': 'nobody knows' } })).status, 200);
  assert.equal(upstream.requests.at(-1)?.header('mcp-session-id'), undefined);
  for (const method of ['GET', 'DELETE']) assert.equal((await send(url, { method, headers: { 'MCP-Protocol-Version': '2026-07-28' } })).status, 405);
});

test('what was fetched with a person’s key is cached for nobody else', async (t) => {
  const { url, upstream } = await gateway(t, { upstream: modernServer({ cacheScope: 'public' }) });
  const { inputRequests } = resultOf(await modernCall(url, 'paid'));
  await submitPage(inputRequests?.['key']?.params.url ?? '', { token: key });
  assert.match((await modernCall(url, 'paid')).text, /"cacheScope":"private"/);
  assert.match((await modernCall(url, 'free')).text, /"cacheScope":"public"/);
  upstream.setBehaviour(() => json({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete', content: [] } }));
  assert.equal((await modernCall(url, 'paid')).text.includes('cacheScope'), false);
});

test('trace context goes to the upstream', async (t) => {
  const { url, upstream } = await gateway(t);
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await modernCall(url, 'free', {}, { headers: { traceparent: trace, tracestate: 'a=1', baggage: 'b=2' } });
  const { header } = await upstream.request((request) => request.body.includes('tools/call'));
  assert.deepEqual([header('traceparent'), header('tracestate'), header('baggage')], [trace, 'a=1', 'b=2']);
});
