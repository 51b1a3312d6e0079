/**
 * The key is nowhere (invariant 1; A10, A18, A19): a canary goes through every way on which a key could
 * travel, and is then looked for in everything that left the process.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test, type TestContext } from 'node:test';
import { makeCanary, spellingsFound } from '../kit/canary.ts';
import { startContext7 } from '../kit/context7.ts';
import { startGateway } from '../kit/gateway.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { connect, linkIn, send, urlMode } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { question, tool } from '../kit/protected-context7.ts';
import { openPage, submitPage, type RunningProxy } from '../kit/proxy.ts';
import { sse, type Behaviour, type RecordedRequest, type Reply } from '../kit/recorder.ts';
import { connectSdkClient } from '../kit/sdk-client.ts';

/** Every file that the proxy keeps: the database, its write-ahead log, and what else lies there. */
function files({ folder }: RunningProxy): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

function assertNowhere(canary: string, places: Readonly<Record<string, string | Buffer>>): void {
  for (const [place, content] of Object.entries(places)) {
    assert.ok(content.length > 0, `${place} is empty`);
    assert.deepEqual(spellingsFound(canary, content), [], place);
  }
}

test('the search finds a canary in every spelling', () => {
  const canary = makeCanary('sk-');
  const html = canary.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
  for (const text of [canary, JSON.stringify({ canary }), JSON.stringify(JSON.stringify(canary)), html, encodeURIComponent(canary), new URLSearchParams({ canary }).toString(), Buffer.from(canary).toString('hex')]) {
    assert.notDeepEqual(spellingsFound(canary, text), [], text);
  }
  for (const before of ['', 'a', 'ab', 'abc']) {
    for (const encoding of ['base64', 'base64url'] as const) assert.notDeepEqual(spellingsFound(canary, Buffer.from(`${before}${canary}xyz`).toString(encoding)), [], `${before} ${encoding}`);
  }
  assert.deepEqual(spellingsFound(canary, makeCanary('sk-')), []);
});

/** What it got in X-Key, wherever an upstream can put it. */
const telltale: Behaviour = (request) => {
  const got = request.header('x-key');
  const call = callOf(request);
  const ways: Readonly<Record<string, (secret: string) => Reply>> = {
    'as-error': (secret) => rpc(request, { error: { code: -32000, message: `bad key ${secret}`, data: { [secret]: [secret] } } }),
    'as-events': (secret) => sse([event({ method: 'notifications/message', params: { level: 'info', data: secret } }), event({ ...answer(request), result: { content: [{ type: 'text', text: secret }], structuredContent: { header: `Authorization: ${secret}` } } })]),
    'as-bytes': (secret) => sse([...event({ ...answer(request), result: { content: [{ type: 'text', text: secret }] } })]),
    'as-gzip': (secret) => ({ headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify({ ...answer(request), result: { content: [{ type: 'text', text: secret }] } })) }),
    'as-basic': (secret) => rpc(request, { result: { content: [{ type: 'text', text: `Basic ${Buffer.from(`user:${secret}`).toString('base64')} ${encodeURIComponent(secret)}` }] } }),
    'as-html': (secret) => ({ headers: { 'content-type': 'text/html' }, body: `<h1>${secret}</h1>` }),
    'as-500': (secret) => ({ status: 500, headers: { 'x-echo': secret.slice(0, 20) }, body: secret }),
    'as-redirect': (secret) => ({ status: 302, headers: { location: `/?key=${encodeURIComponent(secret)}` } }),
    'as-cookie': (secret) => ({ ...rpc(request, { result: { content: [] } }), headers: { 'content-type': 'application/json', 'set-cookie': `k=${encodeURIComponent(secret)}`, 'www-authenticate': `Bearer error_description="${encodeURIComponent(secret)}"` } }),
    'as-nothing-usable': (secret) => ({ headers: { 'content-type': 'application/json' }, body: `{${JSON.stringify(secret)}` }),
  };
  const way = ways[call?.params?.name ?? ''];
  return got === undefined || way === undefined ? plain(request) : way(got);
};
const plain = mcpServer({ get: 'open', tools: { echo: (_call, request) => ({ content: [{ type: 'text', text: JSON.stringify(request.rawHeaders) }] }) } });
const answer = (request: RecordedRequest) => ({ jsonrpc: '2.0', id: callOf(request)?.id });
const rpc = (request: RecordedRequest, outcome: object): Reply => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...answer(request), ...outcome }) });
const event = (message: object): string => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

const file = `
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key, pattern: '^sk-' }], inject: { headers: { X-Key: "{token}" } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [echo, "as-*"], requires: [key] }] } }
elicitation: { expiresAfter: 30m }
limits: { perUser: { submissions: 8/10m } }
log: { level: trace }
`;

test('a key is in no page, log, audit line, file or message, whatever the person or the upstream does with it (A10, A18, A19, K1, K3)', async (t: TestContext) => {
  const canary = planted(makeCanary('sk-'));
  const { proxy, upstream, url } = await startGateway(t, { upstream: telltale, file });
  const client = await connect(url, { capabilities: urlMode });
  const received: string[] = [];
  const call = async (name: string) => {
    const { rawHeaders, text } = await client.call(name);
    received.push(rawHeaders.join('\n'), text);
    return text;
  };
  const pages: string[] = [];
  const keep = ({ headers, html }: { readonly headers: Headers; readonly html: string }) => void pages.push(JSON.stringify([...headers]), html);

  const [old, link, other] = [linkIn(await call('echo')), linkIn(await call('echo')), linkIn(await call('echo'))];
  for (const token of [`wrong-${canary}`, `${canary}é`, `${canary}\n${canary}`, canary.repeat(300), canary.repeat(8_000)]) keep(await submitPage(link, { token }));
  keep(await submitPage(link, { token: canary, csrf: 'forged' }));
  keep(await submitPage(link, { token: canary, action: 'decline' }));
  keep(await submitPage(link, { token: `Bearer ${canary}` , action: 'give' }));
  keep(await submitPage(other, { token: canary }));
  for (const path of ['connect/unknown', `connect/x?token=${encodeURIComponent(canary)}`]) keep(await openPage(`${proxy.origin}/${path}`));
  for (const address of [link, other, old]) keep(await openPage(address));
  for (const body of [`{"token":${JSON.stringify(canary)}`, `--x\r\n\r\n${canary}`]) {
    const { rawHeaders, text } = await send(link, { headers: { 'content-type': 'application/json' }, body });
    pages.push(rawHeaders.join('\n'), text);
  }

  const stream = await connectSdkClient(url);
  for (const name of ['echo', 'as-error', 'as-events', 'as-bytes', 'as-gzip', 'as-basic', 'as-html', 'as-500', 'as-redirect', 'as-cookie', 'as-nothing-usable']) {
    await call(name);
    await stream.call(name, {}).catch(() => undefined);
  }
  await stream.close();
  const arrived = upstream.requests.filter((request) => request.header('x-key') !== undefined);
  assert.equal(arrived.length, 22, 'the canary was on its way');
  assert.ok(arrived.every((request) => spellingsFound(canary, request.header('x-key') ?? '').length > 0));

  const places = () => ({ pages: pages.join('\n'), 'what clients received': [...received, stream.received()].join('\n'), log: proxy.log.join('\n'), 'audit trail': JSON.stringify(proxy.audit), ...files(proxy) });
  assert.deepEqual(Object.keys(files(proxy)).sort(), ['elicitgate.db', 'elicitgate.db-shm', 'elicitgate.db-wal', 'elicitgate.yaml']);
  assertNowhere(canary, places());
  for (const id of proxy.log) assert.ok(!id.includes('/connect/'), 'no link stands in the log');

  // And when the store breaks under it.
  for (const name of ['elicitgate.db', 'elicitgate.db-wal', 'elicitgate.db-shm']) rmSync(join(proxy.folder, name));
  proxy.pass(60_000);
  await call('echo');
  keep(await openPage(other));
  assertNowhere(canary, { log: proxy.log.join('\n'), pages: pages.join('\n'), 'what clients received': received.join('\n') });
});

test('with the unmodified server of Context7 the key is at its API and nowhere else', async (t) => {
  const canary = planted(makeCanary('ctx7sk-'));
  const context7 = await startContext7();
  t.after(() => context7.close());
  const { proxy, url } = await startGateway(t, {
    file: `
credentials: { context7: { kind: apiKey, title: Context7, fields: [{ name: key }], inject: { headers: { Authorization: "Bearer {key}" } } } }
upstreams: { context7: { url: "${context7.url}", rules: [{ tools: [query-docs], requires: [context7] }] } }
log: { level: trace }
`,
  });
  const client = await connectSdkClient(url);
  const [asked] = await client.ask(tool, question);
  const done = await submitPage(asked?.url ?? '', { key: canary });
  await client.completion(asked?.elicitationId ?? '');
  await client.call(tool, question);
  await client.client.listTools();
  await client.close();
  assert.deepEqual([...new Set(context7.requests.map(({ key }) => key))], [canary]);
  assertNowhere(canary, { page: done.html, client: client.received(), log: proxy.log.join('\n'), 'audit trail': JSON.stringify(proxy.audit), ...files(proxy) });
});
