import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from '../kit/chromium.ts';
import { startContext7, type Context7 } from '../kit/context7.ts';
import { protectContext7, question, tool } from '../kit/protected-context7.ts';
import { openPage, submitPage } from '../kit/proxy.ts';
import { connectSdkClient } from '../kit/sdk-client.ts';

const { browser, skip } = await chromium();
const answer = /What \/demo\/elicitgate says about “How does a person give a key\?”, from the stand-in API\./;

describe('the official client in front of an unmodified server', () => {
  let context7: Context7;
  before(async () => { context7 = await startContext7(); });
  after(async () => {
    await context7.close();
    await browser?.close();
  });
  const keysSince = (start: number) => context7.requests.slice(start).map(({ key }) => key);

  test('a person is asked once, gives her key in the browser, and the same call gives the real result', { skip }, async (t) => {
    const { proxy, connect } = await protectContext7(t, context7);
    const seen = context7.requests.length;
    const client = await connect();
    const links = await client.ask(tool, question);
    assert.equal(links.length, 1);
    const [link] = links;
    assert.ok(link);
    assert.match(link.url, new RegExp(`^${proxy.origin}/connect/[\\w-]{22,}$`));
    assert.ok(!link.url.includes(link.elicitationId));
    assert.equal(link.message, 'Context7 tools needs your Context7 credential to run “query-docs”. Open the page to give it; neither the assistant nor this client sees it.');
    assert.deepEqual(keysSince(seen), [], 'nothing has left the proxy');

    assert.ok(browser);
    const page = await browser.newPage({ locale: 'en-GB' });
    await page.goto(link.url);
    assert.equal(await page.title(), 'Connect Context7 for Context7 tools · Elicitgate');
    await page.getByLabel('API key').fill('ctx7sk-anna');
    await page.getByRole('button', { name: 'Save and continue' }).click();
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Context7 is connected');
    assert.match(await page.getByRole('main').innerText(), /Test client goes on by itself/);

    await client.completion(link.elicitationId);
    const result = await client.call(tool, question);
    assert.equal(result.isError ?? false, false);
    assert.match(JSON.stringify(result.content), answer);
    assert.deepEqual(client.completed, [link.elicitationId]);
    assert.deepEqual([...new Set(keysSince(seen))], ['ctx7sk-anna']);
    assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked', 'opened', 'submitted', 'stored', 'used']);
    await page.close();
  });

  test("the person's next session and her other client are not asked again (C7, E3)", async (t) => {
    const { connect } = await protectContext7(t, context7);
    const first = await connect();
    const [link] = await first.ask(tool, question);
    await submitPage(link?.url ?? '', { key: 'ctx7sk-anna' });
    await first.close();
    for (const takesUrls of [true, false]) {
      const next = await connect({ takesUrls, title: 'Another client' });
      assert.match(JSON.stringify(await next.call(tool, question)), answer);
      assert.deepEqual(next.completed, []);
    }
  });

  test('a client that cannot be sent to a page gets the link as the text of a failed result (C1, C9)', async (t) => {
    const { proxy, connect } = await protectContext7(t, context7);
    const client = await connect({ takesUrls: false });
    const result = await client.call(tool, question);
    assert.equal(result.isError, true);
    const [content] = result.content;
    assert.ok(content?.type === 'text');
    const url = new RegExp(`${proxy.origin}/connect/[\\w-]+`).exec(content.text)?.[0] ?? '';
    assert.match(content.text, /^Context7 tools needs your Context7 credential to run “query-docs”\./);
    assert.match(content.text, /Never ask for the key in this conversation\. When the user says it is done, call the tool again/);

    const done = await submitPage(url, { key: 'ctx7sk-ben' });
    assert.match(done.html, /Go back to the app you came from and say “continue”\./);
    assert.match(JSON.stringify(await client.call(tool, question)), answer);
    assert.deepEqual(client.completed, []);
  });

  test('tools without a rule pass, and the list of tools is the same as without the proxy', async (t) => {
    const { connect } = await protectContext7(t, context7);
    const direct = await connectSdkClient(context7.url);
    const proxied = await connect();
    assert.deepEqual(await proxied.client.listTools(), await direct.client.listTools());
    assert.deepEqual(proxied.client.getServerVersion(), direct.client.getServerVersion());
    const args = { libraryName: 'Elicitgate', query: 'keys' };
    assert.deepEqual(await proxied.call('resolve-library-id', args), await direct.call('resolve-library-id', args));
    await direct.client.close();
  });

  test('every attempt gets a link of its own, and every link is good (C4)', async (t) => {
    const { connect } = await protectContext7(t, context7);
    const client = await connect();
    const attempts = [await client.ask(tool, question), await client.ask(tool, question), await client.ask(tool, question)];
    const links = attempts.flat();
    assert.equal(new Set(links.map(({ url }) => url)).size, 3);
    assert.equal(new Set(links.map(({ elicitationId }) => elicitationId)).size, 3);
    for (const { url } of links) assert.equal((await openPage(url)).status, 200);
  });

  test('twenty calls at once, from two sessions, are one question: one answer ends it for all, and every session hears of its own (A9)', async (t) => {
    const { proxy, connect } = await protectContext7(t, context7);
    const clients = [await connect(), await connect()];
    const asked = await Promise.all(
      clients.map(async (client) => {
        const links = (await Promise.all(Array.from({ length: 10 }, () => client.ask(tool, question)))).flat();
        assert.equal(links.length, 10);
        return { client, links };
      }),
    );
    const all = asked.flatMap(({ links }) => links);
    assert.equal(new Set(all.map(({ url }) => url)).size, 20);

    await submitPage(all[7]?.url ?? '', { key: 'ctx7sk-cleo' });
    for (const { url } of all) assert.match((await openPage(url)).html, /Context7: all done already/);
    for (const { client, links } of asked) {
      const ids = links.map(({ elicitationId }) => elicitationId);
      await Promise.all(ids.map((id) => client.completion(id)));
      assert.deepEqual([...client.completed].sort(), ids.sort());
      assert.match(JSON.stringify(await client.call(tool, question)), answer);
    }
    assert.equal(proxy.audit.filter(({ audit }) => audit === 'stored').length, 1);
  });

  test('a client that waits is told although the person went on by a renewed link', async (t) => {
    const { proxy, connect } = await protectContext7(t, context7);
    const client = await connect();
    const [link] = await client.ask(tool, question);
    assert.ok(link);
    proxy.pass(31 * 60_000);
    const renewed = await submitPage(link.url, { action: 'renew' });
    await submitPage(new URL(renewed.headers.get('location') ?? '').href, { key: 'ctx7sk-dora' });
    await client.completion(link.elicitationId);
    assert.match(JSON.stringify(await client.call(tool, question)), answer);
    assert.deepEqual(client.completed, [link.elicitationId]);
  });
});
