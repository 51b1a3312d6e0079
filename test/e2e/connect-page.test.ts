import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { startGateway, type GatewaySetup } from '../kit/gateway.ts';
import { connect, urlMode, type Elicitation, type McpClient } from '../kit/mcp-client.ts';
import { openPage, submitPage, type RunningProxy } from '../kit/proxy.ts';
import type { Recorder } from '../kit/recorder.ts';

const credentials = `
credentials:
  jira:
    kind: apiKey
    title: Jira
    expiresAfter: 90d
    fields:
      - { name: email, label: E-mail, secret: false }
      - { name: token, label: API token, pattern: '^jira-', hint: begins with jira- }
    inject: { headers: { X-User: "{email}", X-Key: "Bearer {token}" } }
  wiki: { kind: apiKey, title: Wiki, fields: [{ name: token, label: Key }], inject: { headers: { X-Wiki: "{token}" } } }
  board: { kind: apiKey, title: Board, fields: [{ name: token, label: Key }], inject: { headers: { X-Board: "{token}" } } }
upstreams:
  main:
    title: Tracker
    url: \${UPSTREAM}
    rules:
      - { tools: [paid], requires: [jira] }
      - { tools: [free], requires: [wiki] }
      - { tools: [echo], requires: [board] }
`;

const good = { email: 'ada@example.com', token: 'jira-123' };

interface Scene {
  readonly proxy: RunningProxy;
  readonly upstream: Recorder;
  readonly client: McpClient;
  readonly ask: (tool?: string) => Promise<Elicitation>;
}

async function begin(t: TestContext, file = '', setup: GatewaySetup = {}): Promise<Scene> {
  const { proxy, upstream, url } = await startGateway(t, { ...setup, file: credentials + file });
  const client = await connect(url, { capabilities: urlMode, clientInfo: { name: 'test-client', version: '1' } });
  return {
    proxy,
    upstream,
    client,
    async ask(tool = 'paid') {
      const { message } = await client.call(tool);
      const [asked] = message.error?.data?.elicitations ?? [];
      assert.ok(asked, JSON.stringify(message));
      return asked;
    },
  };
}

const events = (proxy: RunningProxy) => proxy.audit.map(({ audit }) => audit);
const valueOf = (html: string, name: string) => new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(html.replaceAll('\n', ' '))?.[1];

test('the page says who asks, through which client, for which tool, for whom it is kept, how long, and where it goes', async (t) => {
  const { upstream, ask } = await begin(t);
  const { status, html } = await openPage((await ask()).url, { 'accept-language': 'en' });
  assert.equal(status, 200);
  const text = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  assert.match(text, /Asked for by Tracker/);
  assert.match(text, /Asked through test-client the name it gives itself/);
  assert.match(text, /Needed for paid/);
  assert.match(text, /Stored for ada/);
  assert.ok(text.includes(`Sent only to ${new URL(upstream.url).origin}`), text);
  assert.match(text, /Kept for 90 days/);
});

test('what is given arrives trimmed, without the words that the file puts in front itself (E4, K1)', async (t) => {
  const { upstream, client, ask } = await begin(t);
  const { status } = await submitPage((await ask()).url, { email: ' ada@example.com\t', token: ' \r\n Bearer jira-123 \r\n' });
  assert.equal(status, 200);
  await client.call('paid');
  const last = upstream.requests.at(-1);
  assert.equal(last?.header('x-user'), 'ada@example.com');
  assert.equal(last.header('x-key'), 'Bearer jira-123');
});

test('a value of the wrong form is refused with words at its field; what is no secret stays, and nothing is stored', async (t) => {
  const { proxy, ask, upstream } = await begin(t);
  const { url } = await ask();
  const { status, html } = await submitPage(url, { ...good, token: 'github-123' });
  assert.equal(status, 422);
  assert.match(html, /<title>Please check: connect Jira for Tracker/);
  assert.match(html, /This does not have the expected form\./);
  assert.equal(valueOf(html, 'email'), 'ada@example.com');
  assert.ok(!html.includes('github-123'));
  assert.deepEqual(events(proxy), ['asked', 'opened', 'submitted']);
  assert.equal(proxy.audit.at(-1)?.['outcome'], 'refused');
  await ask();
  assert.ok(!upstream.requests.some(({ body }) => body.includes('"paid"')), 'nothing was forwarded');
});

for (const [what, token] of [
  ['letters beyond ASCII', 'jira-schlüssel'],
  ['a line break in the middle', 'jira-1\r\nX-Evil: 1'],
  ['a NUL', 'jira-\u0000'],
] as const) {
  test(`a key with ${what} cannot stand in a header: a friendly message, and nothing is stored (K1)`, async (t) => {
    const { proxy, ask } = await begin(t);
    const { status, html } = await submitPage((await ask()).url, { ...good, token });
    assert.equal(status, 422);
    assert.match(html, /This contains characters that cannot be used here/);
    assert.ok(!events(proxy).includes('stored'));
    await ask();
  });
}

test('"not now" stores nothing, holds nothing against the person, and leaves the link good (C6)', async (t) => {
  const { proxy, ask } = await begin(t);
  const { url } = await ask();
  const page = await openPage(url);
  const declined = await fetch(url, { method: 'POST', headers: { origin: proxy.origin }, body: new URLSearchParams({ csrf: valueOf(page.html, 'csrf') ?? '', action: 'decline' }) });
  assert.equal(declined.status, 200);
  assert.match(await declined.text(), /All right, not now/);
  assert.deepEqual(events(proxy), ['asked', 'opened', 'declined']);
  assert.notEqual((await ask()).url, url);
  assert.equal((await submitPage(url, good)).status, 200);
});

test('an expired link leads on: "Get a new link" gives a page that works, in the same language', async (t) => {
  const { proxy, client, ask } = await begin(t, 'elicitation: { expiresAfter: 30m }\n');
  const { url } = await ask();
  proxy.pass(30 * 60_000 + 1);
  const expired = await openPage(`${url}?lang=de`);
  assert.equal(expired.status, 410);
  assert.match(expired.html, /<html lang="de"/);
  assert.equal((await submitPage(url, good)).status, 410);
  const renewed = await fetch(`${url}?lang=de`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: proxy.origin },
    body: new URLSearchParams({ csrf: valueOf(expired.html, 'csrf') ?? '', action: 'renew' }),
  });
  assert.equal(renewed.status, 303);
  const next = renewed.headers.get('location') ?? '';
  assert.match(next, new RegExp(`^${proxy.origin}/connect/[\\w-]+\\?lang=de$`));
  assert.ok(!next.startsWith(url));
  assert.equal((await openPage(url)).status, 410);
  assert.equal((await submitPage(next, good)).status, 200);
  assert.equal((await client.call('paid')).message.result?.isError ?? false, false);
  assert.deepEqual(events(proxy), ['asked', 'renewed', 'opened', 'submitted', 'stored', 'used']);
});

test('a link that has done its work says so, and takes no second key', async (t) => {
  const { client, upstream, ask } = await begin(t);
  const { url } = await ask();
  const other = await ask();
  const page = await openPage(other.url);
  await submitPage(url, good);
  const again = await openPage(url);
  assert.equal(again.status, 200);
  assert.match(again.html, /Jira: all done already/);
  assert.doesNotMatch(again.html, /<form/);
  const late = await fetch(other.url, { method: 'POST', body: new URLSearchParams({ csrf: valueOf(page.html, 'csrf') ?? '', action: 'give', ...good, token: 'jira-other' }) });
  assert.match(await late.text(), /Jira: all done already/);
  await client.call('paid');
  assert.equal(upstream.requests.at(-1)?.header('x-key'), 'Bearer jira-123');
});

test('a link that never was is a page with status 404, for reading and for sending', async (t) => {
  const { proxy } = await begin(t);
  for (const path of ['/connect/AAAAAAAAAAAAAAAAAAAAAA', '/connect/x', '/connect/%00', '/connect/..%2f..%2fetc%2fpasswd']) {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(proxy.origin + path, { method, ...(method === 'POST' ? { body: new URLSearchParams({ action: 'give' }) } : {}) });
      assert.equal(response.status, 404, `${method} ${path}`);
      assert.match(await response.text(), /This link does not work/, `${method} ${path}`);
    }
  }
  assert.deepEqual(proxy.audit, []);
});

test('a form that is too large, or no form at all, is answered with a page and stores nothing', async (t) => {
  const { proxy, ask } = await begin(t);
  const { url } = await ask();
  const huge = await submitPage(url, { ...good, token: `jira-${'x'.repeat(300_000)}` });
  assert.equal(huge.status, 413);
  assert.match(huge.html, /That was too much text/);
  const tooLong = await submitPage(url, { ...good, token: `jira-${'x'.repeat(9_000)}` });
  assert.equal(tooLong.status, 422);
  assert.match(tooLong.html, /This is longer than it can be/);
  for (const type of ['multipart/form-data; boundary=x', 'application/xml', 'application/json']) {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body: '{' });
    assert.equal(response.status, 400, type);
    assert.match(await response.text(), /That did not come through/);
  }
  assert.ok(!events(proxy).includes('stored'));
});

test('more submissions than the limit are answered with a pause, whatever the button says; the link stays good (A9)', async (t) => {
  const { proxy, ask } = await begin(t, 'limits: { perUser: { submissions: 3/10m } }\n');
  const { url } = await ask();
  const csrf = valueOf((await openPage(url)).html, 'csrf') ?? '';
  const send = (fields: Readonly<Record<string, string>>) => fetch(url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ csrf, ...fields }) });
  for (const fields of [{ action: 'give' }, { action: 'anything' }, {}]) assert.equal((await send({ ...good, token: 'wrong', ...fields })).status, 422);
  for (const fields of [{ action: 'give' }, { action: 'anything' }, {}]) {
    const refused = await send({ ...good, ...fields });
    assert.equal(refused.status, 429);
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d{0,2}$/);
    assert.match(await refused.text(), /A short pause, please/);
  }
  assert.equal((await send({ action: 'decline' })).status, 200);
  assert.equal((await openPage(url)).status, 200);
  assert.ok(!events(proxy).includes('stored'));
});

test('more pages than the limit of one address are answered with a pause; MCP calls go on (A9)', async (t) => {
  const { ask } = await begin(t, 'limits: { perAddress: { pages: 5/1m } }\n');
  const { url } = await ask();
  for (let view = 1; view <= 5; view += 1) assert.equal((await openPage(url)).status, 200);
  const refused = await openPage(url);
  assert.equal(refused.status, 429);
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
  assert.match(refused.html, /A short pause, please/);
  await ask();
});

test("at the limit of open questions the person's oldest gives way; nobody is turned away (A9)", async (t) => {
  const { proxy, ask } = await begin(t, 'limits: { perUser: { openInteractions: 2 } }\n');
  const links: string[] = [];
  for (const tool of ['paid', 'free', 'echo']) {
    links.push((await ask(tool)).url);
    proxy.pass(1_000);
  }
  const statuses = await Promise.all(links.map(async (url) => (await openPage(url)).status));
  assert.deepEqual(statuses, [404, 200, 200]);
  assert.equal((await openPage((await ask('paid')).url)).status, 200);
});

test('a store that cannot be reached is a page with status 503, and not one that says the link is wrong (B2)', async (t) => {
  const { ask, proxy } = await begin(t);
  const { url } = await ask();
  rmSync(join(proxy.folder, 'elicitgate.db'));
  const { status, html } = await openPage(url);
  assert.equal(status, 503);
  assert.match(html, /Not possible at the moment/);
});
