/** Answers about tasks that a client lets go by on their way and resumes on a GET (A5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, type McpClient } from '../kit/mcp-client.ts';
import { callOf } from '../kit/mcp-server.ts';
import { json, sse, type Behaviour } from '../kit/recorder.ts';

const identity = 'identity: { proxyHeaders: { user: X-Forwarded-User, issuer: https://sso.example.com, secretHeader: X-Proxy-Secret, secret: proxy-secret } }';
const as = (user: string) => ({ 'X-Forwarded-User': user, 'X-Proxy-Secret': 'proxy-secret' });

/** Replays what a client asks for: a call that was answered by task-1, or the list of all tasks. */
const replays: Behaviour = (request) => {
  const call = callOf(request);
  const resumed = request.header('last-event-id');
  const said = (id: unknown, result: unknown) => `event: message\nid: e-2\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
  if (request.method === 'GET') return sse(resumed === 'started' ? said(1, { task: { taskId: 'task-1', status: 'working', ttl: 60_000 } }) : said(2, { tasks: [{ taskId: 'task-1' }, { taskId: 'task-2' }] }));
  if (call?.id === undefined) return { status: 202 };
  if (call.method === 'initialize') return json({ jsonrpc: '2.0', id: call.id, result: { protocolVersion: '2025-11-25', capabilities: { tasks: {} }, serverInfo: { name: 'r', version: '1' } } }, { 'mcp-session-id': request.header('x-any') ?? 'one' });
  return json({ jsonrpc: '2.0', id: call.id, result: { content: [] } });
};

test('a task that is heard of on a resumed stream belongs to the person who resumed it, and lists show it to nobody else (A5)', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: replays, file: identity });
  const [ada, eve] = [await connect(url, { headers: as('ada') }), await connect(url, { headers: as('eve') })];
  const resume = async (client: McpClient, from: string) => (await client.bare('GET', { 'Last-Event-ID': from })).text.match(/task-\d/g);
  assert.deepEqual(await resume(ada, 'started'), ['task-1']);
  const before = upstream.requests.length;
  const { message } = await eve.post({ jsonrpc: '2.0', id: 3, method: 'tasks/result', params: { taskId: 'task-1' } });
  assert.equal(message.error?.code, -32602);
  assert.equal(upstream.requests.length, before);
  assert.deepEqual([await resume(ada, 'listed'), await resume(eve, 'listed')], [['task-1', 'task-2'], ['task-2']]);
});
