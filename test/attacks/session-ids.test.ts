/** Attack A5 on session ids: whatever is not exactly a live session of this person at this upstream is as unknown as one that never was. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, post, send, toolCall, urlMode, type Answer } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRecorder } from '../kit/recorder.ts';

const day = 24 * 3_600_000;
const accept = { Accept: 'application/json, text/event-stream' };

/** What each method answers to a session id. */
async function tryOut(url: string, session: string): Promise<Answer[]> {
  const headers = { ...accept, 'Mcp-Session-Id': session };
  return [
    await post(url, toolCall('free', {}, 7), headers),
    await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers),
    await send(url, { method: 'GET', headers }),
    await send(url, { method: 'DELETE', headers }),
  ];
}

function assertUnknown(answers: readonly Answer[], name: string): void {
  assert.deepEqual(answers.map(({ status, message }) => [status, message.id, message.error?.code]), [
    [404, 7, -32001],
    [404, null, -32001],
    [404, null, -32001],
    [404, null, -32001],
  ], name);
}

test('a made-up session id is unknown on every method, with the words for one that does not exist, never 401 (A5, H6)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const never = await tryOut(url, 'never-given');
  for (const id of ['', ' ', 'null', 'upstream-session-1', '../../etc/passwd', 'é', 'a'.repeat(8_000), randomBytes(300).toString('base64url')]) {
    const answers = await tryOut(url, id);
    assertUnknown(answers, id.slice(0, 40));
    assert.deepEqual(answers.map(({ text }) => text), never.map(({ text }) => text));
  }
  assert.deepEqual(upstream.requests, []);
});

test('a session id with any byte changed, cut or lengthened is unknown (A5)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const { session = '' } = await connect(url);
  const before = upstream.requests.length;
  const sealed = Buffer.from(session, 'base64url');
  const flipped = [...sealed.keys()].map((at) => {
    const bytes = Buffer.from(sealed);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes.toString('base64url');
  });
  const lastCharacter = session.at(-1) === 'A' ? 'B' : 'A';
  const edited = [...flipped, ...[1, 2, 3, 16, 100].map((cut) => session.slice(0, -cut)), session.slice(1), `${session}A`, `${session}=`, ` ${session.slice(0, 20)} ${session.slice(20)}`, session.slice(0, -1) + lastCharacter, session.toUpperCase(), `${session},${session}`];
  for (const id of edited) {
    const { status } = await post(url, toolCall('free'), { 'Mcp-Session-Id': id });
    assert.equal(status, 404, id);
  }
  assertUnknown(await tryOut(url, flipped[20] ?? ''), 'flipped');
  assert.equal(upstream.requests.length, before);
  assert.equal((await post(url, toolCall('free'), { 'Mcp-Session-Id': session })).status, 200);
});

test('the session id of one upstream is unknown at another, and two ids at once are refused (A5)', async (t) => {
  const [one, two] = [await startRecorder(mcpServer()), await startRecorder(mcpServer())];
  const proxy = await startProxy('upstreams: { one: { url: "${ONE}" }, two: { url: "${TWO}" } }', { env: { ONE: one.url, TWO: two.url } });
  t.after(async () => { await proxy.close(); await one.close(); await two.close(); });
  const [first, second] = [await connect(`${proxy.origin}/one/mcp`), await connect(`${proxy.origin}/two/mcp`)];
  assertUnknown(await tryOut(`${proxy.origin}/two/mcp`, first.session ?? ''), 'of another upstream');
  assert.equal((await first.call('free', {}, { 'Mcp-Session-Id': [first.session ?? '', first.session ?? ''] })).status, 400);
  assert.equal((await first.call('free', {}, { 'mcp-session-id': second.session ?? '' })).status, 400);
  assert.deepEqual([one.requests.length, two.requests.length], [1, 1]);
  assert.equal((await first.call('free')).status, 200);
});

test('a session id that was sealed with other keys is unknown (A5)', async (t) => {
  const [here, there] = [await startGateway(t), await startGateway(t)];
  const { session = '' } = await connect(there.url);
  assertUnknown(await tryOut(here.url, session), 'of another installation');
});

test('an ended session is unknown, to its owner and on every method (A5)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode });
  assert.equal((await client.bare('DELETE')).status, 200);
  const before = upstream.requests.length;
  assertUnknown(await tryOut(url, client.session ?? ''), 'ended');
  assert.equal(upstream.requests.length, before);
});

test('a session id expires, after thirty days (A5)', async (t) => {
  const { url, proxy } = await startGateway(t);
  const client = await connect(url);
  proxy.pass(29 * day);
  assert.equal((await client.call('free')).status, 200);
  proxy.pass(1 * day);
  assertUnknown(await tryOut(url, client.session ?? ''), 'expired');
});

test("the client's id is another than the upstream's and says nothing about it (A5)", async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url, { clientInfo: { name: 'a-client-name', version: '1' } });
  await client.call('free');
  assert.equal(upstream.requests.at(-1)?.header('mcp-session-id'), 'upstream-session-1');
  const session = client.session ?? '';
  assert.match(session, /^[\w-]{100,}$/);
  const spelled = session + Buffer.from(session, 'base64url').toString('latin1');
  for (const fact of ['upstream-session-1', 'a-client-name', 'main']) assert.equal(spelled.includes(fact), false, fact);
});
