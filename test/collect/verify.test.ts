/** What a person gives is tried before it is stored: through an address, or through the upstream itself. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createVerify, type Verdict } from '../../src/collect/verify.ts';
import { startGateway, type GatewaySetup, type RunningGateway } from '../kit/gateway.ts';
import { connect, linkIn, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { openPage, submitPage } from '../kit/proxy.ts';
import { json, startRecorder, type Behaviour, type Recorder } from '../kit/recorder.ts';

const good = planted('sk-tried-and-good-5d1c');
const bad = planted('sk-tried-and-bad-77aa');

interface Tried extends RunningGateway {
  readonly judge: Recorder;
  readonly client: McpClient;
  readonly link: string;
}

/** A key that a stand-in API judges before it is stored; the link to its page. */
async function tried(t: TestContext, judged: Behaviour, more = ''): Promise<Tried> {
  const judge = await startRecorder(judged);
  t.after(() => judge.close());
  const gateway = await startGateway(t, {
    env: { JUDGE: judge.url },
    file: `credentials: { key: { kind: apiKey, title: Key, fields: [{ name: email, label: E-mail, secret: false }, { name: token, label: Key }], verify: { url: "\${JUDGE}/user?x=1", headers: { Authorization: "Bearer {token}" }${more} }, inject: { headers: { X-Key: "{token}" } } } }`,
  });
  return { ...gateway, judge, ...(await asked(gateway)) };
}

async function asked({ url }: RunningGateway): Promise<{ client: McpClient; link: string }> {
  const client = await connect(url, { capabilities: urlMode });
  const { text: question } = await client.call('paid');
  return { client, link: linkIn(question) };
}

const judging: Behaviour = (request) => ({ status: request.header('authorization') === `Bearer ${good}` ? 200 : 401 });
const verdicts = ({ proxy }: RunningGateway): unknown[] => proxy.audit.filter(({ audit }) => audit === 'verified').map(({ outcome }) => outcome);
const isStored = async (client: McpClient): Promise<boolean> => (await client.call('paid')).message.result?.content?.[0]?.text === 'paid';

test('a good value is stored after the address of the file took it; the page says who is asked', async (t) => {
  const gateway = await tried(t, judging);
  assert.ok((await openPage(gateway.link)).html.includes(`Before it is stored, ${new URL(gateway.judge.url).host} is asked whether it is valid.`));
  assert.equal((await submitPage(gateway.link, { email: 'a@example.com', token: `Bearer ${good}` })).status, 200);
  assert.deepEqual(gateway.judge.requests.map(({ method, path, header }) => [method, path, header('authorization')]), [['GET', '/mcp/user?x=1', `Bearer ${good}`]]);
  assert.deepEqual(verdicts(gateway), ['good']);
  assert.ok(await isStored(gateway.client));
});

test('the address is a destination that the page shows', async (t) => {
  const { link, judge, upstream } = await tried(t, judging);
  const origins = [new URL(judge.url).origin, new URL(upstream.url).origin].sort().join(' ');
  assert.ok((await openPage(link)).html.includes(origins));
});

test('a refused value is not stored, the reason is on the page, what is no secret is kept and nothing of the secret is', async (t) => {
  const gateway = await tried(t, judging, ', orStoreAnyway: true');
  for (const action of ['give', 'store-anyway']) {
    const { status, html } = await submitPage(gateway.link, { email: 'a@example.com', token: bad, action });
    assert.equal(status, 422);
    assert.ok(html.includes('This was not accepted') && html.includes('refused what you entered.'), html);
    assert.ok(html.includes('value="a@example.com"') && !html.includes(bad) && !html.includes('store-anyway'));
  }
  assert.deepEqual(verdicts(gateway), ['refused', 'refused']);
  assert.equal(await isStored(gateway.client), false);
  assert.equal((await submitPage(gateway.link, { email: 'a@example.com', token: good })).status, 200);
});

test('when nobody can say, nothing is stored unless the file lets her choose, and then after one more trial', async (t) => {
  for (const status of [500, 503, 429]) {
    const strict = await tried(t, () => ({ status }));
    const answer = await submitPage(strict.link, { email: 'a@example.com', token: good, action: 'store-anyway' });
    assert.equal(answer.status, 503);
    assert.ok(answer.html.includes('cannot be asked at the moment') && !answer.html.includes('store-anyway'));
    assert.equal(await isStored(strict.client), false);
  }
  const gateway = await tried(t, () => ({ status: 503 }), ', orStoreAnyway: true');
  const { html } = await submitPage(gateway.link, { email: 'a@example.com', token: good });
  assert.ok(html.includes('value="store-anyway">Store without the check</button>'), html);
  assert.equal(await isStored(gateway.client), false);
  assert.equal((await submitPage(gateway.link, { email: 'a@example.com', token: good, action: 'store-anyway' })).status, 200);
  assert.deepEqual(verdicts(gateway), ['unreachable', 'unreachable']);
  assert.ok(await isStored(gateway.client));
});

test('a redirect is no yes and is not followed, another status than the file’s is no yes either', async (t) => {
  const elsewhere = await startRecorder(() => json({}));
  t.after(() => elsewhere.close());
  for (const reply of [{ status: 302, headers: { location: elsewhere.url } }, { status: 204 }]) {
    const { link } = await tried(t, () => reply);
    assert.equal((await submitPage(link, { email: 'a@example.com', token: good })).status, 422);
  }
  assert.deepEqual(elsewhere.requests, []);
  const { link } = await tried(t, () => ({ status: 204 }), ', expect: [204]');
  assert.equal((await submitPage(link, { email: 'a@example.com', token: good })).status, 200);
});

test('an answer that does not come in time, and a server that is not there, are told apart', async () => {
  const credential = { config: { kind: 'apiKey', name: 'key', verify: { url: new URL('https://api.example.com/user'), headers: {}, expect: [200], orStoreAnyway: false } } };
  const verdictOn = async (fetch: (signal: AbortSignal) => Promise<Response>, limitMs = 1): Promise<Verdict> => {
    const lines: unknown[] = [];
    const log = { info: (line: unknown) => lines.push(line) };
    const verify = createVerify({ fetch: (_url, { signal }) => fetch(signal), log: log as never, now: Date.now, limitMs });
    return verify(credential as never, { config: { name: 'main' } } as never, { token: good });
  };
  assert.equal(await verdictOn((signal) => new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason as Error); }); })), 'timeout');
  assert.equal(await verdictOn(() => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(good), { code: 'UND_ERR_CONNECT_TIMEOUT' }) }))), 'timeout');
  assert.equal(await verdictOn(() => Promise.reject(new TypeError(`fetch failed ${good}`))), 'unreachable');
});

const byTool = (rest = ''): GatewaySetup => ({
  file: `credentials: { key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], verify: { tool: whoami, arguments: { quiet: true } }, inject: { headers: { X-Key: "{token}" } } } }`,
  ...(rest === '' ? {} : { with: rest }),
});

/** A server that reads the key at `initialize`, as many do; `whoami` says whether it is good. */
function binding(refuse: 'status' | 'tool' | 'rpc' | 'lost'): Behaviour {
  const keys = new Map<string, string>();
  const server = mcpServer({ answers: 'sse', tools: { whoami: (_call, request) => (keys.get(request.header('mcp-session-id') ?? '') === good ? text('ada') : { ...(text('Error: Bad credentials') as object), isError: true }) } });
  return async (request) => {
    const call = callOf(request);
    const isBad = keys.get(request.header('mcp-session-id') ?? '') !== good && call?.params?.name === 'whoami';
    if (isBad && refuse === 'status') return { status: 401 };
    if (isBad && refuse === 'lost') return { status: 503 };
    if (isBad && refuse === 'rpc') return json({ jsonrpc: '2.0', id: call?.id, error: { code: -32001, message: 'unauthorized' } });
    const reply = await server(request);
    const session = reply.headers?.['mcp-session-id'];
    if (call?.method === 'initialize' && typeof session === 'string') keys.set(session, request.header('x-key') ?? '');
    return reply;
  };
}

test('a tool of the upstream is called with the new value in a session of the proxy’s own, and ended', async (t) => {
  const gateway = await startGateway(t, { ...byTool(), upstream: binding('tool') });
  const { link, client } = await asked(gateway);
  gateway.upstream.forget();
  assert.equal((await submitPage(link, { token: good })).status, 200);
  await gateway.upstream.request(({ method }) => method === 'DELETE');
  assert.deepEqual(gateway.upstream.requests.map((request) => [request.method, callOf(request)?.method, request.header('x-key'), request.header('mcp-session-id')]), [
    ['POST', 'initialize', good, undefined],
    ['POST', 'notifications/initialized', good, 'upstream-session-2'],
    ['POST', 'tools/call', good, 'upstream-session-2'],
    ['DELETE', undefined, good, 'upstream-session-2'],
  ]);
  assert.deepEqual(callOf(gateway.upstream.requests[2] ?? assert.fail())?.params, { name: 'whoami', arguments: { quiet: true } });
  assert.ok(await isStored(client));
});

test('a tool that refuses in any way that upstreams have keeps the value from being stored; another failure is none', async (t) => {
  for (const [refuse, rest, status, words] of [
    ['tool', '', 422, 'refused what you entered'],
    ['tool', 'rejected: { toolError: "Bad credentials" }', 422, 'refused what you entered'],
    ['tool', 'rejected: { toolError: "No such key" }', 503, 'cannot be asked'],
    ['status', '', 422, 'refused what you entered'],
    ['rpc', 'rejected: { rpcError: [-32001] }', 422, 'refused what you entered'],
    ['rpc', '', 503, 'cannot be asked'],
    ['lost', '', 503, 'cannot be asked'],
  ] as const) {
    const gateway = await startGateway(t, { ...byTool(rest), upstream: binding(refuse) });
    const { link, client } = await asked(gateway);
    const page = await submitPage(link, { token: bad });
    assert.deepEqual([page.status, page.html.includes(words)], [status, true], `${refuse} ${rest}`);
    assert.ok(!page.html.includes(bad) && !page.html.includes('Bad credentials'));
    assert.equal(await isStored(client), false);
  }
});
