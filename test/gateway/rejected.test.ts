/** What happens when the upstream refuses a person's key: the same call asks for it again, and never without end. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { key, startGateway, type GatewaySetup } from '../kit/gateway.ts';
import { connect, linkIn, provide, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text, type McpServerOptions } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { openPage, submitPage } from '../kit/proxy.ts';
import type { Behaviour } from '../kit/recorder.ts';

const goodKey = planted('sk-the-good-one-2b9f');

/** An upstream that takes the good key only, and says so in one of the ways that upstreams have. */
function choosy(refuse: 'status' | 'rpc' | 'tool', options: McpServerOptions = {}): Behaviour {
  const server = mcpServer({
    ...options,
    tools: {
      paid: (_call, request) => {
        if (request.header('x-key') === goodKey) return text('paid');
        if (refuse === 'tool') return { content: [{ type: 'text', text: 'Error: Bad credentials' }], isError: true };
        return text('not reached');
      },
    },
  });
  return (request) => {
    const call = callOf(request);
    const isBad = call?.params?.name === 'paid' && request.header('x-key') !== goodKey;
    if (isBad && refuse === 'status') return { status: 401, headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer' }, body: '{"message":"bad"}' };
    if (isBad && refuse === 'rpc') {
      const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code: -32001, message: 'unauthorized' } });
      return { headers: { 'content-type': options.answers === 'sse' ? 'text/event-stream' : 'application/json' }, body: options.answers === 'sse' ? `id: 7\ndata: ${body}\n\n` : body };
    }
    return server(request);
  };
}

async function withBadKey(t: TestContext, setup: GatewaySetup) {
  const running = await startGateway(t, setup);
  const client = await connect(running.url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  return { ...running, client };
}

const rejected = `rejected: { rpcError: [-32001], toolError: '(?i)bad credentials', maxPerHour: 3 }`;

for (const [name, setup] of [
  ['a 401', { upstream: choosy('status') }],
  ['an error code of the file, as JSON', { upstream: choosy('rpc'), with: rejected }],
  ['an error code of the file, as an event', { upstream: choosy('rpc', { answers: 'sse' }), with: rejected }],
  ['a tool error of the file, as JSON', { upstream: choosy('tool'), with: rejected }],
  ['a tool error of the file, as an event', { upstream: choosy('tool', { answers: 'sse' }), with: rejected }],
] as const) {
  test(`a key that the upstream refuses by ${name} is asked for again by the same call, and the new one is used (A13)`, async (t) => {
    const { client, proxy, upstream } = await withBadKey(t, setup);
    const refused = await client.call('paid');
    assert.equal(refused.status, 200);
    assert.equal(refused.headers['www-authenticate'], undefined);
    assert.equal(refused.message.error?.code, -32042);
    const calls = upstream.requests.length;
    assert.equal((await client.call('paid')).message.error?.code, -32042);
    assert.equal(upstream.requests.length, calls, 'a refused key is not sent again');
    assert.match((await openPage(linkIn(refused.text))).html, /main refused what you stored before/);
    assert.equal((await submitPage(linkIn(refused.text), { token: goodKey })).status, 200);
    assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
    assert.deepEqual(proxy.audit.filter((line) => line.audit === 'rejected').map(({ credential, tool }) => ({ credential, tool })), [{ credential: 'key', tool: 'paid' }]);
  });
}

test('an upstream that refuses every key is not asked about for ever: after three times in an hour its own error passes (A13)', async (t) => {
  const { client, proxy, upstream } = await withBadKey(t, { upstream: choosy('tool'), with: rejected });
  for (let time = 1; time <= 3; time += 1) {
    const asked = await client.call('paid');
    assert.equal(asked.message.error?.code, -32042, `time ${time}`);
    await submitPage(linkIn(asked.text), { token: `${key}-${time}` });
  }
  for (let more = 1; more <= 2; more += 1) {
    const passed = await client.call('paid');
    assert.equal(passed.message.result?.isError, true);
    assert.equal(passed.message.result.content?.[0]?.text, 'Error: Bad credentials');
  }
  assert.equal(upstream.requests.filter((request) => request.header('x-key') === `${key}-3`).length, 2);
  proxy.pass(3_600_001);
  assert.equal((await client.call('paid')).message.error?.code, -32042);
});

test('a 401 after the cap is an error of the upstream, never a login for the client (A13, A28)', async (t) => {
  const { client } = await withBadKey(t, { upstream: choosy('status'), with: 'rejected: { maxPerHour: 1 }' });
  await submitPage(linkIn((await client.call('paid')).text), { token: planted('another-bad-key') });
  const passed = await client.call('paid');
  assert.equal(passed.status, 200);
  assert.equal(passed.message.error?.code, 1502);
});

test('a 401 to a call that carried no key of a person is an error of the upstream, and asks nobody', async (t) => {
  const { client, proxy } = await withBadKey(t, { upstream: (request) => (callOf(request)?.method === 'tools/list' ? { status: 401 } : mcpServer({ sessions: false })(request)) });
  const answer = await client.post({ jsonrpc: '2.0', id: 5, method: 'tools/list' });
  assert.equal(answer.message.error?.code, 1502);
  assert.equal(proxy.audit.some((line) => line.audit === 'rejected'), false);
});

test('twenty calls that are refused at once are one rejection and one question', async (t) => {
  const { client } = await withBadKey(t, { upstream: choosy('status') });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call('paid')));
  assert.deepEqual(new Set(answers.map((answer) => answer.message.error?.code)), new Set([-32042]));
  await submitPage(linkIn(answers[0]?.text ?? ''), { token: goodKey });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
});
