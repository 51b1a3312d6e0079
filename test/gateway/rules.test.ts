import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, linkIn, urlMode, type Answer, type McpClient } from '../kit/mcp-client.ts';
import { callOf } from '../kit/mcp-server.ts';
import { submitPage } from '../kit/proxy.ts';
import { json, type Behaviour } from '../kit/recorder.ts';

const rules = `
      - { resources: ["docs://vault/*"], requires: [key] }
      - { prompts: ["review_*"], requires: [key] }
      - { tools: [search], when: { arguments: { depth: deep } }, requires: [key] }
      - { tools: [report], unless: { arguments: { dry_run: true } }, requires: [key] }
      - { prompts: [plan], when: { arguments: { audience: board } }, requires: [key] }`;

/** Answers whatever it is asked; sessionless. */
const upstream: Behaviour = (request) => {
  const call = callOf(request);
  if (call?.id === undefined) return { status: 202 };
  const result = call.method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'r', version: '1' } } : { from: 'upstream' };
  return json({ jsonrpc: '2.0', id: call.id, result });
};

async function begin(t: TestContext, more = '') {
  const file = `upstreams: { main: { url: "\${UPSTREAM}"${more}, rules: [] } }`.replace('rules: []', `rules: [${rules.replaceAll('\n      - ', ', ').slice(2)}]`);
  const gateway = await startGateway(t, { upstream, file });
  return gateway;
}

let lastId = 0;
const request = (client: McpClient, method: string, params: object): Promise<Answer> => client.post({ jsonrpc: '2.0', id: (lastId += 1), method, params });

const guarded: readonly (readonly [method: string, params: object, words: string])[] = [
  ['resources/read', { uri: 'docs://vault/a' }, 'main needs your Key credential to read “docs://vault/a”.'],
  ['resources/subscribe', { uri: 'docs://vault/a?token=x' }, 'main needs your Key credential to read “docs://vault/a”.'],
  ['prompts/get', { name: 'review_code' }, 'main needs your Key credential to use “review_code”.'],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'review_code' }, argument: { name: 'a', value: '' } }, 'main needs your Key credential to use “review_code”.'],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'docs://vault/{name}' }, argument: { name: 'name', value: '' } }, 'main needs your Key credential to read “docs://vault/{name}”.'],
];

test('resources, prompts and what completes them ask like tools do, and carry the key once it is there', async (t) => {
  const { url, upstream: recorder } = await begin(t);
  const client = await connect(url, { capabilities: urlMode });
  const before = recorder.requests.length;
  const links: string[] = [];
  for (const [method, params, words] of guarded) {
    const { status, message } = await request(client, method, params);
    const [question, ...more] = message.error?.data?.elicitations ?? [];
    assert.deepEqual([status, message.error?.code, more], [200, -32042, []], method);
    assert.ok(question !== undefined && question.message.startsWith(words), question?.message);
    links.push(question.url);
  }
  assert.equal(recorder.requests.length, before);
  assert.equal((await submitPage(links[0] ?? '', { token: key })).status, 200);
  for (const [method, params] of guarded) {
    assert.deepEqual((await request(client, method, params)).message.result, { from: 'upstream' }, method);
    assert.equal(recorder.requests.at(-1)?.header('x-key'), key, method);
  }
});

test('without URL mode what is no tool gets error 1401 with the same words and the link, and with `fallback: refuse` without it', async (t) => {
  const { url } = await begin(t);
  const client = await connect(url);
  for (const [method, params, words] of guarded) {
    const { status, message } = await request(client, method, params);
    const said = message.error?.message ?? '';
    assert.deepEqual([status, message.error?.code, message.result], [200, 1401, undefined], method);
    assert.ok(said.startsWith(words), said);
    assert.match(said, /\n\nShow the user the link as it is\. Never ask for the key in this conversation\. When the user says it is done, send the same request again\.$/);
    assert.equal((await submitPage(linkIn(said), { token: '' })).status, 422);
  }
  const strict = await connect((await begin(t, ', fallback: refuse')).url);
  const { message } = await request(strict, 'resources/read', { uri: 'docs://vault/a' });
  assert.deepEqual(message.error, { code: 1401, message: 'This needs a credential that the user has not given yet: Key. This client cannot be sent to the page for it.' });
});

test('lists, and whatever no rule names, ask nothing', async (t) => {
  const { url, upstream: recorder } = await begin(t);
  const client = await connect(url, { capabilities: urlMode });
  for (const [method, params] of [
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['prompts/list', {}],
    ['resources/unsubscribe', { uri: 'docs://vault/a' }],
    ['resources/read', { uri: 'docs://public/a' }],
    ['prompts/get', { name: 'hello', arguments: {} }],
    ['tools/call', { name: 'search', arguments: { depth: 'shallow' } }],
    ['tools/call', { name: 'search' }],
    ['tools/call', { name: 'report', arguments: { dry_run: true } }],
    ['prompts/get', { name: 'plan', arguments: { audience: 'team' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'hello' }, argument: { name: 'a', value: '' } }],
  ] as const) {
    assert.deepEqual((await request(client, method, params)).message.result, { from: 'upstream' }, `${method} ${JSON.stringify(params)}`);
    assert.equal(recorder.requests.at(-1)?.header('x-key'), undefined);
  }
});

test('a call that its arguments bring under a rule asks, in whatever spelling they come (A8)', async (t) => {
  const { url, upstream: recorder } = await begin(t);
  const client = await connect(url, { capabilities: urlMode });
  const before = recorder.requests.length;
  const call = (name: string, args: string) => client.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`);
  for (const args of ['{"depth":"deep"}', '{"depth":"\\u0064eep"}', '{"\\u0064epth":"deep"}', '{"depth":"DEEP"}', '{"depth":["deep"]}', '{"Depth":"deep"}', '{"depth":"shallow","DEPTH":"deep"}', '"{\\"depth\\":\\"deep\\"}"', '{"depth":1}']) {
    assert.equal((await call('search', args)).message.error?.code, -32042, args);
  }
  assert.equal((await call('search', '{"depth":"shallow","depth":"deep"}')).message.error?.code, -32600);
  for (const args of ['{}', '{"dry_run":false}', '{"dry_run":"true"}', '{"dry_run":1}', '{"dry_run":true,"Dry_Run":false}', '[{"dry_run":true}]', '{"dryRun":true}']) {
    assert.equal((await call('report', args)).message.error?.code, -32042, args);
  }
  assert.equal(recorder.requests.length, before);
});

test('claims of the caller decide too, several values of one header each for itself', async (t) => {
  const file = `
identity: { proxyHeaders: { user: X-Forwarded-User, claims: { groups: X-Forwarded-Groups }, issuer: https://sso.example.com, secretHeader: X-Proxy-Secret, secret: proxy-secret } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: ["*"], unless: { claims: { groups: [staff] } }, requires: [key] }] } }`;
  const { url } = await startGateway(t, { upstream, file });
  const as = (groups: string) => connect(url, { capabilities: urlMode, headers: { 'X-Forwarded-User': 'ada', 'X-Forwarded-Groups': groups, 'X-Proxy-Secret': 'proxy-secret' } });
  for (const groups of ['staff', 'guests, staff']) assert.deepEqual((await (await as(groups)).call('search')).message.result, { from: 'upstream' }, groups);
  for (const groups of ['', 'guests', 'Staff', 'staffs', 'non staff']) assert.equal((await (await as(groups)).call('search')).message.error?.code, -32042, groups);
});
