/** Calls that wait for their person on their own stream (`elicitation.delivery: hold`). */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, sendForHead, toolCall, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { submitPage } from '../kit/proxy.ts';

interface Request {
  readonly id: string;
  readonly method: string;
  readonly params: { readonly mode: string; readonly elicitationId: string; readonly url: string; readonly message: string };
}

/** A held call: what was asked on its stream, and what it ends with. */
async function hold(client: McpClient): Promise<{ readonly request: Request; readonly answer: IncomingMessage; readonly rest: () => Promise<string> }> {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '', 'MCP-Protocol-Version': '2025-11-25' };
  const answer = await sendForHead(client.url, { headers, body: JSON.stringify(toolCall('paid')) });
  assert.equal(answer.headers['content-type'], 'text/event-stream');
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let text = '';
  while (!text.includes('elicitation/create')) text += String((await chunks.next()).value);
  const request = JSON.parse(/(?<=^data: ).*$/m.exec(text)?.[0] ?? '') as Request;
  const rest = async () => {
    let whole = '';
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) whole += String(next.value);
    return whole;
  };
  return { request, answer, rest };
}

async function holding(t: TestContext, more = '', file = '') {
  const gateway = await startGateway(t, { file: `elicitation: { delivery: hold${more} }\n${file}` });
  return { ...gateway, client: await connect(gateway.url, { capabilities: urlMode }) };
}

test('a held call asks on its own stream, and its result comes there once the key is given', async (t) => {
  const { client, upstream, proxy } = await holding(t);
  const { request, rest } = await hold(client);
  assert.match(request.id, /^elicitgate-[\w-]{65}$/);
  assert.deepEqual(Object.keys(request.params), ['mode', 'elicitationId', 'url', 'message']);
  assert.equal(request.params.mode, 'url');
  assert.equal((await client.post({ jsonrpc: '2.0', id: request.id, result: { action: 'accept' } })).status, 202);
  await submitPage(request.params.url, { token: key });
  assert.match(await rest(), /data: .*"id":1.*"text":"paid"/);
  assert.equal(upstream.requests.some((one) => one.body.includes('elicitgate-')), false);
  assert.equal(proxy.audit.find(({ audit }) => audit === 'asked')?.['rung'], 'url-request');
});

test('a held call that its client cancels is over: its stream ends without an answer, and what the person gives later sends nothing', async (t) => {
  const { client, upstream } = await holding(t);
  const { request, rest } = await hold(client);
  await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  assert.equal((await rest()).includes('data:'), false);
  await submitPage(request.params.url, { token: key });
  assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
  assert.equal(upstream.requests.some((one) => one.body.includes('"paid"')), false);
});

test('a response to a request of another proxy’s is not taken for an answer to ours, and goes on', async (t) => {
  const { client, upstream } = await holding(t);
  const { request, rest } = await hold(client);
  const foreign = request.id.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
  await client.post({ jsonrpc: '2.0', id: foreign, result: { action: 'decline' } });
  assert.equal(upstream.requests.at(-1)?.body.includes(foreign), true);
  await submitPage(request.params.url, { token: key });
  assert.match(await rest(), /"text":"paid"/);
});

test('decline and cancel, by the client or on the page, end the held call', async (t) => {
  const { client, upstream } = await holding(t);
  for (const action of ['decline', 'cancel']) {
    const { request, rest } = await hold(client);
    await client.post({ jsonrpc: '2.0', id: request.id, result: { action } });
    assert.match(await rest(), /"isError":true/);
  }
  const { request, rest } = await hold(client);
  await submitPage(request.params.url, { action: 'decline' });
  assert.match(await rest(), /"isError":true/);
  assert.equal(upstream.requests.some((one) => one.body.includes('tools/call')), false);
});

test('a held call that nobody answers ends with the URL error and a fresh link', async (t) => {
  const { client } = await holding(t, ', holdFor: 1s');
  const { request, rest } = await hold(client);
  const ended = await rest();
  assert.match(ended, /"code":-32042/);
  assert.equal(ended.includes(request.params.url), false);
});

test('a client that cannot put the question gets the URL error at once', async (t) => {
  const { client } = await holding(t);
  const { request, rest } = await hold(client);
  await client.post({ jsonrpc: '2.0', id: request.id, error: { code: -32601, message: 'no' } });
  assert.match(await rest(), /"code":-32042/);
});

test('what another session answers changes nothing, and reaches no upstream', async (t) => {
  const { url, client, upstream } = await holding(t);
  const { request, rest } = await hold(client);
  const other = await connect(url, { capabilities: urlMode });
  assert.equal((await other.post({ jsonrpc: '2.0', id: request.id, result: { action: 'decline' } })).status, 202);
  await submitPage(request.params.url, { token: key });
  assert.match(await rest(), /"text":"paid"/);
  assert.equal(upstream.requests.some((one) => one.body.includes('decline')), false);
});

test('a person has only so many held calls; one more gets the URL error at once, and a hang-up gives its place back', async (t) => {
  const { client } = await holding(t, '', 'limits: { perUser: { held: 1 } }');
  const first = await hold(client);
  assert.equal((await client.call('paid')).message.error?.code, -32042);
  first.answer.destroy();
  await freed(client);
});

/** The proxy learns of a hang-up in its own time. */
async function freed(client: McpClient): Promise<void> {
  for (;;) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '' };
    const answer = await sendForHead(client.url, { headers, body: JSON.stringify(toolCall('paid')) });
    const isHeld = answer.headers['content-type'] === 'text/event-stream';
    answer.destroy();
    if (isHeld) return;
  }
}

test('a client that reads no streams, and one upstream with `delivery: error`, get the URL error', async (t) => {
  const { client } = await holding(t);
  assert.equal((await client.call('paid', {}, { Accept: 'application/json' })).message.error?.code, -32042);
  const { url } = await startGateway(t, { file: 'elicitation: { delivery: hold }', with: 'delivery: error' });
  assert.equal((await (await connect(url, { capabilities: urlMode })).call('paid')).message.error?.code, -32042);
});
