/** A protected call in disguise: whatever a lenient server could take for it is refused before anything is forwarded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, toolCall } from '../kit/mcp-client.ts';

test('a body is sent on as plain JSON in UTF-8, so UTF-7 that hides a name stays JSON that no rule and no server takes for it (A8)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const before = upstream.requests.length;
  for (const type of ['application/json; charset =utf-7', 'application/json; charset=utf-8; charset=utf-7']) {
    assert.equal((await client.call('+AHAAYQBpAGQ-', {}, { 'Content-Type': type })).status, 415, type);
  }
  assert.equal(upstream.requests.length, before);
  await client.call('+AHAAYQBpAGQ-', {}, { 'Content-Type': 'application/json; charset=UTF-8' });
  assert.equal(upstream.requests.at(-1)?.header('content-type'), 'application/json');
});

test('names and methods with hidden characters or space around are nobody’s (A8)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const before = upstream.requests.length;
  const names = ['paid\u0000', '\u0000paid', 'pa\u200bid', 'paid ', '\tpaid', 'paid\ufeff', 'pa\u00adid', 'paid\ud800'];
  for (const name of names) assert.equal((await client.call(name)).message.error?.code, -32600, JSON.stringify(name));
  const methods = ['tools/call\u0000', 'Tools/Call', ' tools/call', 'tools/call ', 'tools\u200b/call', 'TOOLS/CALL', '\uff54ools/call'];
  for (const method of methods) {
    const answer = await client.post({ ...toolCall('paid'), method });
    assert.equal(answer.message.error?.code, -32600, JSON.stringify(method));
  }
  assert.ok(upstream.requests.slice(before).every((request) => !request.body.includes('"paid"')));
});

test('headers that repeat the body must say what it says (A8)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const before = upstream.requests.length;
  for (const headers of [{ 'Mcp-Name': 'paid' }, { 'Mcp-Method': 'ping' }, { 'Mcp-Name': '=?base64?cGFpZA==?=' }, { 'Mcp-Name': '' }]) {
    assert.equal((await client.call('free', {}, headers)).message.error?.code, -32600, JSON.stringify(headers));
  }
  assert.equal(upstream.requests.length, before);
  assert.equal((await client.call('free', {}, { 'Mcp-Name': '=?base64?ZnJlZQ==?=', 'Mcp-Method': 'tools/call' })).message.result?.content?.[0]?.text, 'free');
});
