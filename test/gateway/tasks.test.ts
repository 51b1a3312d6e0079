import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, type McpClient } from '../kit/mcp-client.ts';
import { callOf } from '../kit/mcp-server.ts';
import { json, sse, type Behaviour } from '../kit/recorder.ts';

/** Two people, each by a header of her proxy. */
const identity = 'identity: { proxyHeaders: { user: X-Forwarded-User, issuer: https://sso.example.com, secretHeader: X-Proxy-Secret, secret: proxy-secret } }';
const as = (user: string) => ({ 'X-Forwarded-User': user, 'X-Proxy-Secret': 'proxy-secret' });

/** Starts a task for every call that asks for one; its results repeat the key. */
function taskServer(type: 'json' | 'sse'): Behaviour {
  const started: string[] = [];
  return (request) => {
    const call = callOf(request);
    if (call?.id === undefined) return { status: 202 };
    const params = (call.params ?? {}) as { readonly task?: unknown; readonly taskId?: string };
    const result = () => {
      if (call.method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: { tasks: {} }, serverInfo: { name: 'r', version: '1' } };
      if (call.method === 'tasks/list') return { tasks: started.map((taskId) => ({ taskId, status: 'working', big: JSON.parse('1') as number })) };
      if (call.method === 'tools/call' && params.task !== undefined) return { task: { taskId: `task-${started.push(`task-${started.length + 1}`)}`, status: 'working', ttl: 60_000 } };
      return { content: [{ type: 'text', text: `${call.method} ${params.taskId ?? ''} ${request.header('x-key') ?? ''}` }] };
    };
    const answer = { jsonrpc: '2.0', id: call.id, result: result() };
    return type === 'json' ? json(answer) : sse(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
  };
}

async function begin(t: TestContext, type: 'json' | 'sse' = 'json') {
  const gateway = await startGateway(t, { upstream: taskServer(type), file: identity });
  const [ada, eve] = [await connect(gateway.url, { headers: as('ada') }), await connect(gateway.url, { headers: as('eve') })];
  return { ...gateway, ada, eve };
}

const start = (client: McpClient, tool: string) => client.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: {}, task: { ttl: 60_000 } } });
const about = (client: McpClient, method: string, taskId: unknown) => client.post({ jsonrpc: '2.0', id: 2, method, params: { taskId } });
const textOf = (answer: Awaited<ReturnType<McpClient['post']>>) => answer.message.result?.content?.[0]?.text;

async function giveKey(client: McpClient, user: string): Promise<void> {
  const original = globalThis.fetch;
  globalThis.fetch = (input, init) => original(input, { ...init, headers: { ...(init?.headers as Record<string, string> | undefined), ...as(user) } });
  try {
    await provide(client, 'paid', { token: key });
  } finally {
    globalThis.fetch = original;
  }
}

for (const type of ['json', 'sse'] as const) {
  test(`a task that was started with a credential keeps it, and what comes of it is scrubbed, in ${type}`, async (t) => {
    const { ada, upstream } = await begin(t, type);
    await giveKey(ada, 'ada');
    assert.match((await start(ada, 'paid')).text, /"taskId":"task-1"/);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      assert.equal(textOf(await about(ada, method, 'task-1')), `${method} task-1 [redacted]`);
      assert.equal(upstream.requests.at(-1)?.header('x-key'), key);
    }
  });

  test(`a task belongs to the person who started it; for others it does not exist, and nothing is forwarded, in ${type} (A5)`, async (t) => {
    const { ada, eve, upstream } = await begin(t, type);
    await giveKey(ada, 'ada');
    await start(ada, 'paid');
    await start(eve, 'free');
    const before = upstream.requests.length;
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { status, message } = await about(eve, method, 'task-1');
      assert.deepEqual([status, message.error], [200, { code: -32602, message: 'Failed to retrieve task: Task not found.' }]);
    }
    assert.equal(upstream.requests.length, before);
    const listed = async (client: McpClient) => (await client.post({ jsonrpc: '2.0', id: 3, method: 'tasks/list', params: {} })).text.match(/task-\d/g);
    assert.deepEqual([await listed(ada), await listed(eve)], [['task-1', 'task-2'], ['task-2']]);
  });
}

test('a task of a call that needed nothing stays the upstream’s own business', async (t) => {
  const { ada, eve, upstream } = await begin(t);
  await start(ada, 'free');
  assert.equal(textOf(await about(eve, 'tasks/get', 'task-1')), 'tasks/get task-1 ');
  assert.equal(upstream.requests.at(-1)?.header('x-key'), undefined);
});

test('a task whose credential is gone asks for it like the call did', async (t) => {
  const { ada, proxy, upstream } = await begin(t);
  await giveKey(ada, 'ada');
  await start(ada, 'paid');
  const account = await fetch(`${proxy.origin}/account`, { headers: as('ada') });
  const csrf = /name="csrf" value="([^"]*)"/.exec(await account.text())?.[1] ?? '';
  await fetch(`${proxy.origin}/account`, { method: 'POST', redirect: 'manual', headers: { ...as('ada'), origin: proxy.origin }, body: new URLSearchParams({ csrf, action: 'disconnect', upstream: 'main', credential: 'key' }) });
  const before = upstream.requests.length;
  assert.equal((await about(ada, 'tasks/result', 'task-1')).message.error?.code, 1401);
  assert.equal(upstream.requests.length, before);
});

test('a task in disguise is refused (A8)', async (t) => {
  const { ada, eve, upstream } = await begin(t);
  await giveKey(ada, 'ada');
  await start(ada, 'paid');
  const before = upstream.requests.length;
  for (const taskId of [['task-1'], 'task-1\u200b', ' task-1', 1, undefined]) assert.equal((await about(eve, 'tasks/result', taskId)).message.error?.code, -32600, JSON.stringify(taskId));
  for (const method of ['Tasks/Result', 'tasks/get\u0000']) assert.equal((await about(eve, method, 'task-1')).message.error?.code, -32600, method);
  assert.equal((await eve.post({ jsonrpc: '2.0', method: 'tasks/cancel', params: { taskId: 'task-1' } })).status, 400);
  assert.equal((await eve.post({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 'x', taskid: 'task-1' } })).message.error?.code, -32600);
  assert.equal(upstream.requests.length, before);
});
