/** Every place of the file into which a value can be put: the upstream's recorder is the judge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text, type McpServerOptions } from '../kit/mcp-server.ts';
import { json, sse, type Behaviour } from '../kit/recorder.ts';

const credential = (inject: string): string => `credentials: { key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: ${inject} } }`;

test('a query parameter joins the address of the upstream, replaces one of its name, and is in no log (K4)', async (t) => {
  const { url, upstream, proxy } = await startGateway(t, {
    file: `${credential('{ query: { api_key: "{token}&x=1" } }')}
upstreams: { main: { url: "\${UPSTREAM}?version=2&api_key=operator&flag", rules: [{ tools: [paid], requires: [key] }] } }`,
  });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  assert.equal(upstream.requests.at(-1)?.path, `/mcp?version=2&flag&api_key=${key}%26x%3D1`);
  await client.call('free');
  assert.equal(upstream.requests.at(-1)?.path, '/mcp?version=2&api_key=operator&flag');
  assert.deepEqual(proxy.log.filter((line) => line.includes(key)), []);
});

test('an argument is put where its path leads, the client’s own value and its lookalikes are dropped, digits are kept (J3, A11)', async (t) => {
  const { url, upstream } = await startGateway(t, { file: credential('{ arguments: { "auth.token": "{token}" } }') });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const sent = (args: string): string => `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"paid", "arguments":${args}}}`;
  for (const [args, arrived] of [
    ['{"n":9007199254740993 }', `{"n":9007199254740993,"auth":{"token":"${key}"} }`],
    ['{"auth":{"token":"forged","big":12345678901234567890}}', `{"auth":{"token":"${key}","big":12345678901234567890}}`],
    ['{"AUTH":{"token":"forged"},"auth":{"Token":"forged"}}', `{"auth":{"token":"${key}"}}`],
  ] as const) {
    const answer = await client.post(sent(args));
    assert.equal(answer.message.result?.content?.[0]?.text, 'paid');
    assert.equal(upstream.requests.at(-1)?.body.toString(), sent(arrived));
  }
  // A call without arguments gets some.
  await client.post('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"paid"}}');
  assert.equal(upstream.requests.at(-1)?.body.toString(), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"paid","arguments":{"auth":{"token":"${key}"}}}}`);
});

test('where an object must be and the client sent something else, nothing goes upstream', async (t) => {
  const { url, upstream } = await startGateway(t, { file: credential('{ arguments: { "auth.token": "{token}" } }') });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const before = upstream.requests.length;
  for (const args of [[], 'text', { auth: 7 }, { auth: [] }]) assert.equal((await client.call('paid', args)).message.error?.code, -32600, JSON.stringify(args));
  assert.equal(upstream.requests.length, before);
});

test('a key of _meta is put in beside the client’s own, and a call without the credential keeps its bytes', async (t) => {
  const { url, upstream } = await startGateway(t, { file: credential('{ meta: { "example.com/key": "Bearer {token}" } }') });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  await client.post('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paid","_meta":{"progressToken":90071992547409931,"example.com/key":"forged"}}}');
  assert.equal(upstream.requests.at(-1)?.body.toString(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paid","_meta":{"progressToken":90071992547409931,"example.com/key":"Bearer ${key}"}}}`);
  const free = '{"jsonrpc":"2.0" , "id":1,"method":"tools/call","params":{"name":"free","_meta":{"example.com/key":"own"}}}';
  await client.post(free);
  assert.equal(upstream.requests.at(-1)?.body.toString(), free);
});

test('an upstream’s own inject takes the place of the credential’s, there and only there', async (t) => {
  const { proxy, upstream } = await startGateway(t, {
    file: `
credentials: { key: { kind: apiKey, title: Key, shared: true, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } } }
upstreams:
  one: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }] }
  two: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }], inject: { key: { headers: { X-Other: "two {token}" } } } }`,
  });
  const one = await connect(`${proxy.origin}/one/mcp`, { capabilities: urlMode });
  const two = await connect(`${proxy.origin}/two/mcp`, { capabilities: urlMode });
  await provide(one, 'paid', { token: key });
  await one.call('paid');
  assert.deepEqual(['x-key', 'x-other'].map((name) => upstream.requests.at(-1)?.header(name)), [key, undefined]);
  await two.call('paid', {}, { 'X-Other': 'forged', 'X-Key': 'forged' });
  assert.deepEqual(['x-key', 'x-other'].map((name) => upstream.requests.at(-1)?.header(name)), [undefined, `two ${key}`]);
});

test('what went into an address, an argument or _meta is scrubbed from the answer, also with what stood around it (A10)', async (t) => {
  const { url } = await startGateway(t, {
    file: credential('{ query: { a: "q-{token}" }, arguments: { b: "{base64(token)}" }, meta: { c: "{token}" } }'),
    upstream: { tools: { paid: (_call, request) => text(`${request.path} ${request.body.toString()}`) } },
  });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const { text: answer } = await client.call('paid');
  assert.ok(answer.includes('[redacted]'));
  assert.ok(!answer.includes(key) && !answer.includes(Buffer.from(key).toString('base64')), answer);
});

const listed = `{"jsonrpc":"2.0","id":1,"result":{"tools":[
 {"name":"paid","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"auth":{"type":"object","properties":{"token":{"type":"string","x-mcp-header":"Auth-Token"},"n":{"const":9007199254740993}},"required":["n","token"]}},"required":["q"]}},
 {"name":"free","inputSchema":{"type":"object","properties":{"auth":{"type":"object","properties":{"token":{}},"required":["token"]}}}}], "nextCursor":"c"}}`;
const shown = listed.replace('"token":{"type":"string","x-mcp-header":"Auth-Token"},', '').replace('"required":["n","token"]', '"required":["n"]');

/** An upstream that lists these tools, in one way or another. */
function lists(answer: () => ReturnType<Behaviour>, options: McpServerOptions = {}): Behaviour {
  const server = mcpServer(options);
  return (request) => (callOf(request)?.method === 'tools/list' ? answer() : server(request));
}

test('lists of tools leave out an argument that a credential fills in, in JSON and in events, and nothing else', async (t) => {
  const asEvents = `event: message\nid: 1\n${listed.split('\n').map((line) => `data: ${line}`).join('\n')}\n\n`;
  for (const [what, answer] of [['JSON', () => ({ headers: { 'content-type': 'application/json' }, body: listed })], ['events', () => sse([asEvents.slice(0, 300), asEvents.slice(300)])]] as const) {
    const { url } = await startGateway(t, { file: credential('{ arguments: { "auth.token": "{token}" } }'), upstream: lists(answer) });
    const client = await connect(url);
    const { text: got } = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const whole = what === 'JSON' ? got : got.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length)).join('\n');
    assert.equal(whole, shown, what);
  }
});

test('a header that mirrors an injected argument is sent as the body has it, whatever the client sends', async (t) => {
  const { url, upstream } = await startGateway(t, {
    file: credential('{ arguments: { "auth.token": "{token}" } }'),
    upstream: lists(() => ({ headers: { 'content-type': 'application/json' }, body: listed })),
  });
  const client = await connect(url, { capabilities: urlMode });
  await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  await provide(client, 'paid', { token: key });
  await client.call('paid', { q: 'x' }, { 'Mcp-Param-Auth-Token': 'forged', 'Mcp-Param-Q': 'x' });
  assert.deepEqual(['mcp-param-auth-token', 'mcp-param-q'].map((name) => upstream.requests.at(-1)?.header(name)), [key, 'x']);
});

test('with attach: always the argument is left out of every tool', async (t) => {
  const { url } = await startGateway(t, { file: credential('{ arguments: { auth: "{token}" } }'), with: 'attach: always', upstream: lists(() => json({ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'any', inputSchema: { type: 'object', properties: { auth: {} }, required: ['auth'] } }] } })) });
  const client = await connect(url);
  assert.equal((await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"any","inputSchema":{"type":"object","properties":{},"required":[]}}]}}');
});
