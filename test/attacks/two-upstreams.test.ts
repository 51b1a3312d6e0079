/** A person's secrets at two upstreams: what was given for one never reaches the other, and is never shown by it (invariant 7). */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connect, provide, urlMode } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRecorder } from '../kit/recorder.ts';

const [ofOne, ofTwo, ofBoth] = [planted('sk-canary-of-one-7d1f'), planted('sk-canary-of-two-93ab'), planted('sk-canary-of-both-c04e')];

async function startTwo(t: TestContext, credentials: string, requires: string) {
  const [one, two] = [await startRecorder(mcpServer()), await startRecorder(mcpServer())];
  const rules = `rules: [{ tools: [paid], requires: [${requires}] }]`;
  const file = `${credentials}\nupstreams: { one: { url: "\${ONE}", attach: always, ${rules} }, two: { url: "\${TWO}", attach: always, ${rules} } }`;
  const proxy = await startProxy(file, { env: { ONE: one.url, TWO: two.url } });
  t.after(async () => { await proxy.close(); await one.close(); await two.close(); });
  const clients = [await connect(`${proxy.origin}/one/mcp`, { capabilities: urlMode }), await connect(`${proxy.origin}/two/mcp`, { capabilities: urlMode })] as const;
  return { one, two, clients, proxy };
}

const field = 'fields: [{ name: token, label: Key }]';
const everythingAt = (upstream: Awaited<ReturnType<typeof startRecorder>>) => upstream.requests.map(({ path, rawHeaders, body }) => [path, ...rawHeaders, body.toString()].join('\n')).join('\n');

test('one credential at two upstreams is asked for at each, and each gets its own secret only', async (t) => {
  const { one, two, clients: [atOne, atTwo] } = await startTwo(t, `credentials: { key: { kind: apiKey, title: Key, ${field}, inject: { headers: { X-Key: "{token}" } } } }`, 'key');
  await provide(atOne, 'paid', { token: ofOne });
  assert.equal((await atTwo.call('paid')).message.error?.code, -32042);
  await provide(atTwo, 'paid', { token: ofTwo });
  for (const client of [atOne, atTwo, atOne, atTwo]) {
    for (const tool of ['paid', 'free']) assert.equal((await client.call(tool)).message.result?.content?.[0]?.text, tool);
  }
  assert.deepEqual([everythingAt(one).includes(ofOne), everythingAt(one).includes(ofTwo)], [true, false]);
  assert.deepEqual([everythingAt(two).includes(ofOne), everythingAt(two).includes(ofTwo)], [false, true]);
});

test('an upstream scrubs what was sent to it, and does not tell by scrubbing what was sent to another (A30)', async (t) => {
  const { clients: [atOne, atTwo] } = await startTwo(t, `credentials: { key: { kind: apiKey, title: Key, ${field}, inject: { headers: { X-Key: "{token}" } } } }`, 'key');
  await provide(atOne, 'paid', { token: ofOne });
  assert.equal((await atOne.call('echo', { guess: ofOne })).text.includes(ofOne), false);
  assert.equal((await atTwo.call('echo', { guess: ofOne })).text.includes(ofOne), true);
});

test('a shared credential is asked for once, goes to every upstream that requires it, and its page names them all', async (t) => {
  const { one, two, clients: [atOne, atTwo], proxy } = await startTwo(t, `credentials: { key: { kind: apiKey, title: Key, shared: true, ${field}, inject: { headers: { X-Key: "{token}" } } } }`, 'key');
  const url = (await atOne.call('paid')).message.error?.data?.elicitations?.[0]?.url ?? '';
  const page = await (await fetch(url)).text();
  for (const upstream of [one, two]) assert.equal(page.includes(new URL(upstream.url).host), true);
  await provide(atOne, 'paid', { token: ofBoth });
  for (const client of [atTwo, atOne]) assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  assert.deepEqual([one, two].map((upstream) => upstream.requests.at(-1)?.header('x-key')), [ofBoth, ofBoth]);
  assert.deepEqual(proxy.audit.filter(({ audit }) => audit === 'stored').length, 1);
  for (const client of [atOne, atTwo]) assert.equal((await client.call('echo')).text.includes(ofBoth), false);
});

test('a shared credential and one of the same header elsewhere do not mix', async (t) => {
  const credentials = `credentials:
  both: { kind: apiKey, title: Both, shared: true, ${field}, inject: { headers: { X-Both: "{token}" } } }
  own: { kind: apiKey, title: Own, ${field}, inject: { headers: { X-Own: "{token}" } } }`;
  const { one, two, clients: [atOne, atTwo] } = await startTwo(t, credentials, 'both, own');
  await provide(atOne, 'paid', { token: ofBoth });
  await provide(atOne, 'paid', { token: ofOne });
  assert.equal((await atOne.call('paid')).message.result?.content?.[0]?.text, 'paid');
  const asked = (await atTwo.call('paid')).message.error?.data?.elicitations ?? [];
  assert.deepEqual(asked.map(({ message }) => message.includes('Own')), [true]);
  await atTwo.call('free');
  assert.deepEqual(['x-both', 'x-own'].map((name) => one.requests.at(-1)?.header(name)), [ofBoth, ofOne]);
  assert.deepEqual(['x-both', 'x-own'].map((name) => two.requests.at(-1)?.header(name)), [ofBoth, undefined]);
});
