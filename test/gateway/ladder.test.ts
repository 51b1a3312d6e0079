/** How the question reaches each kind of client, and that every client makes progress with what it understands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, linkIn, post, provide, toolCall, urlMode, type Answer, type Declared } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { submitPage } from '../kit/proxy.ts';

type Rung = 'url-error' | 'text' | 'refuse' | 'other';

function rungOf({ status, headers, message }: Answer): Rung {
  if (status !== 200 || headers['content-type'] !== 'application/json') return 'other';
  if (message.error?.code === -32042 && message.error.data?.elicitations !== undefined) return 'url-error';
  if (message.error?.code === 1401) return 'refuse';
  return message.result?.isError === true && message.error === undefined ? 'text' : 'other';
}

test('only a declared `elicitation.url` gets the URL error; everything else that a client may declare gets the text (E1, C1)', async (t) => {
  const { url } = await startGateway(t);
  const declared: [unknown, Rung][] = [
    [{ elicitation: { url: {} } }, 'url-error'],
    [{ elicitation: { form: {}, url: { later: 'fields' } } }, 'url-error'],
    [{}, 'text'],
    [undefined, 'text'],
    [{ elicitation: {} }, 'text'],
    [{ elicitation: { form: {} } }, 'text'],
    [{ elicitation: { URL: {} } }, 'text'],
    [{ elicitation: { url: true } }, 'text'],
    [{ elicitation: { url: null } }, 'text'],
    [{ elicitation: { url: [] } }, 'text'],
    [{ elicitation: true }, 'text'],
    [{ elicitation: [{ url: {} }] }, 'text'],
    [{ elicitation: 'url' }, 'text'],
    [{ url: {} }, 'text'],
    [{ experimental: { elicitation: { url: {} } } }, 'text'],
    ['elicitation', 'text'],
  ];
  for (const [capabilities, rung] of declared) {
    const client = await connect(url, { capabilities });
    assert.equal(rungOf(await client.call('paid')), rung, JSON.stringify(capabilities));
  }
});

test('the URL error is served at any negotiated version, and without a session the text (our reading: the declaration counts)', async (t) => {
  const { url } = await startGateway(t);
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    assert.equal(rungOf(await (await connect(url, { capabilities: urlMode, protocolVersion })).call('paid')), 'url-error', protocolVersion);
  }
  assert.equal(rungOf(await post(url, toolCall('paid'))), 'text');
});

test('the file overrides what a client declares, both ways, by the beginning of its name (C3)', async (t) => {
  const { url } = await startGateway(t, { file: 'elicitation: { clients: [{ name: can-do, treatAs: url }, { name: cannot, treatAs: text }] }' });
  const named = (name: unknown, capabilities: unknown = {}): Declared => ({ capabilities, clientInfo: { name, version: '1' } });
  const table: [Declared, Rung][] = [
    [named('can-do'), 'url-error'],
    [named('can-do', { elicitation: {} }), 'url-error'],
    [named('can-do (via mcp-remote 0.1.38)'), 'url-error'],
    [named('cannot', urlMode), 'text'],
    [named('cannot-at-all', urlMode), 'text'],
    [named('my can-do'), 'text'],
    [named('Can-do'), 'text'],
    [named('can-d'), 'text'],
    [named('another', urlMode), 'url-error'],
    [named(['can-do']), 'text'],
    [{ capabilities: {}, clientInfo: 'can-do' }, 'text'],
    [{ capabilities: {}, clientInfo: { name: 'x', title: 'can-do' } }, 'text'],
  ];
  for (const [declared, rung] of table) {
    assert.equal(rungOf(await (await connect(url, declared)).call('paid')), rung, JSON.stringify(declared));
  }
});

test('with `fallback: refuse` a client without URL mode gets error 1401 without a link, an upstream’s own setting first', async (t) => {
  const everywhere = await startGateway(t, { file: 'elicitation: { fallback: refuse }' });
  const refused = await (await connect(everywhere.url)).call('paid');
  assert.equal(rungOf(refused), 'refuse');
  assert.equal(refused.text.includes('/connect/'), false);
  assert.match(refused.message.error?.message ?? '', /Key/);
  assert.equal(rungOf(await (await connect(everywhere.url, { capabilities: urlMode })).call('paid')), 'url-error');
  const notHere = await startGateway(t, { with: 'fallback: text', file: 'elicitation: { fallback: refuse }' });
  assert.equal(rungOf(await (await connect(notHere.url)).call('paid')), 'text');
});

test('the text is a result marked as an error, with the link as it is, and nothing that a strict client would check against a schema (C9)', async (t) => {
  const { url, proxy } = await startGateway(t);
  const { text, message } = await (await connect(url)).call('paid');
  assert.deepEqual(Object.keys(message), ['jsonrpc', 'id', 'result']);
  assert.deepEqual(Object.keys(message.result ?? {}), ['content', 'isError']);
  assert.equal(message.result?.isError, true);
  assert.deepEqual(message.result?.content?.map((item) => Object.keys(item)), [['type', 'text']]);
  assert.equal(linkIn(text).startsWith(`${proxy.origin}/connect/`), true);
  assert.match(message.result?.content?.[0]?.text ?? '', /main needs your Key credential to run “paid”/);
});

test('the error names mode, url, message and an elicitationId that is not the ticket, and every attempt has fresh ones (C4)', async (t) => {
  const { url, proxy } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode });
  const seen = new Set<string>();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { message } = await client.call('paid');
    assert.deepEqual(Object.keys(message), ['jsonrpc', 'id', 'error']);
    const [one, ...others] = message.error?.data?.elicitations ?? [];
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(one ?? {}), ['mode', 'elicitationId', 'url', 'message']);
    assert.equal(one?.mode, 'url');
    assert.match(one?.url ?? '', new RegExp(`^${proxy.origin}/connect/[\\w-]{22,}$`));
    assert.equal(one?.url.includes(one.elicitationId), false);
    seen.add(one?.url ?? '').add(one?.elicitationId ?? '');
  }
  assert.equal(seen.size, 10);
});

const twoKeys = `
credentials:
  first: { kind: apiKey, title: First, fields: [{ name: token, label: Key }], inject: { headers: { X-First: "{token}" } } }
  second: { kind: apiKey, title: Second, fields: [{ name: token, label: Key }], inject: { headers: { X-Second: "{token}" } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [first] }, { tools: ["p*"], requires: [second, first] }] } }`;

test('several requirements are asked for together, each once, and a client that only ever opens the first link gets through (C5)', async (t) => {
  const { url, upstream } = await startGateway(t, { file: twoKeys });
  const client = await connect(url, { capabilities: urlMode });
  const askedFor = async () => ((await client.call('paid')).message.error?.data?.elicitations ?? []).map(({ message }) => /your (\w+)/.exec(message)?.[1]);
  assert.deepEqual(await askedFor(), ['First', 'Second']);
  const before = upstream.requests.length;
  await provide(client, 'paid', { token: planted('sk-of-the-first') });
  assert.deepEqual(await askedFor(), ['Second']);
  assert.equal(upstream.requests.length, before);
  await provide(client, 'paid', { token: planted('sk-of-the-second') });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  const arrived = upstream.requests.at(-1);
  assert.deepEqual([arrived?.header('x-first'), arrived?.header('x-second')], ['sk-of-the-first', 'sk-of-the-second']);
});

test('in text mode all links stand in one answer, and each can be opened from it (C5)', async (t) => {
  const { url } = await startGateway(t, { file: twoKeys });
  const client = await connect(url);
  const { text } = await client.call('paid');
  const links = [...text.matchAll(/http[^\s"\\]*\/connect\/[\w-]+/g)].map(([link]) => link);
  assert.equal(links.length, 2);
  for (const link of links) assert.equal((await submitPage(link, { token: planted('sk-0123456789') })).status, 200);
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
});

test('a protected call never goes upstream without what it needs, and an unprotected one never asks', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode });
  const before = upstream.requests.length;
  await client.call('paid');
  assert.equal(upstream.requests.length, before);
  assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
  for (const method of ['ping', 'tools/list', 'resources/list', 'prompts/list', 'logging/setLevel']) {
    await client.post({ jsonrpc: '2.0', id: 1, method, params: { name: 'paid' } });
    assert.equal(upstream.requests.at(-1)?.body.toString().includes(method), true);
  }
  await provide(client, 'paid', { token: key });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
});

test('the id of the client comes back exactly in every answer of ours (J1)', async (t) => {
  const { url } = await startGateway(t);
  const [byUrl, byText] = [await connect(url, { capabilities: urlMode }), await connect(url)];
  for (const id of ['0', '""', '"1"', '1', '9007199254740993', '-9007199254740993', '1.0', '1e2', '-0', '0.1', '"\\u0031"', '"é\\ud83d\\ude00"', '123456789012345678901234567890']) {
    const body = `{"id": ${id} ,"jsonrpc":"2.0","method":"tools/call","params":{"name":"paid"}}`;
    for (const client of [byUrl, byText]) {
      const { text } = await client.post(body);
      assert.equal(text.startsWith(`{"jsonrpc":"2.0","id":${id},`), true, text.slice(0, 80));
    }
  }
});
