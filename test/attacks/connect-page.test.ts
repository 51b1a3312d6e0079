/** Attacks on the connect page: robots, forged forms, framing, texts that want to be markup (A4, A17, A23). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { chromium } from '../kit/chromium.ts';
import { startGateway } from '../kit/gateway.ts';
import { connect, linkIn, send, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { openPage, submitPage, type RunningProxy } from '../kit/proxy.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

const clientInfo = { name: 'test-client', version: '1' };
const link = async (client: McpClient, tool = 'paid') => linkIn((await client.call(tool)).text);
const events = (proxy: RunningProxy) => proxy.audit.map(({ audit }) => audit);
const csrfIn = (html: string) => /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';

test('a hundred robots, HEAD, OPTIONS and prefetching browsers change nothing; the owner finishes normally (A4)', async (t) => {
  const { proxy, url } = await startGateway(t, { file: 'limits: { perAddress: { pages: 1000/1m } }' });
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const page = await link(client);
  for (const headers of [{ 'Sec-Purpose': 'prefetch' }, { 'Sec-Purpose': 'prefetch;prerender' }, { Purpose: 'prefetch' }] as const) {
    assert.equal((await openPage(page, headers)).status, 200);
  }
  for (const method of ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) assert.ok((await send(page, { method })).status >= 400, method);
  assert.deepEqual(events(proxy), ['asked'], 'nobody has seen the page yet');
  const robots = Array.from({ length: 100 }, () => openPage(page, { 'user-agent': 'LinkExpander/1.0' }));
  for (const { status, html } of await Promise.all(robots)) {
    assert.equal(status, 200);
    assert.match(html, /<meta name="robots" content="noindex">/);
  }
  assert.equal((await submitPage(page, { token: 'key-123' })).status, 200);
  assert.deepEqual(events(proxy), ['asked', 'opened', 'submitted', 'stored']);
  assert.equal((await client.call('paid')).message.result?.isError ?? false, false);
});

test('a form without its token, or with the token of another link, stores nothing; the link stays good (A23)', async (t) => {
  const { proxy, url } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const [mine, other] = [await link(client), await link(client)];
  const own = csrfIn((await openPage(mine)).html);
  const foreign = csrfIn((await openPage(other)).html);
  assert.notEqual(own, foreign);
  const flipped = Buffer.from(own, 'base64url').map((byte, index) => (index === 20 ? byte ^ 1 : byte)).toString();
  const tokens = [undefined, '', 'x', foreign, flipped, own.slice(0, -4)];
  for (const token of tokens) {
    for (const action of ['give', 'decline', 'renew']) {
      const body = new URLSearchParams({ ...(token === undefined ? {} : { csrf: token }), action, token: 'key-123' });
      const response = await fetch(mine, { method: 'POST', body });
      assert.equal(response.status, 403, `${String(token)} ${action}`);
      assert.match(await response.text(), /The form did not come from this page/);
    }
  }
  const twice = await fetch(mine, { method: 'POST', body: new URLSearchParams([['csrf', own], ['csrf', own], ['token', 'key-123']]) });
  assert.equal(twice.status, 403);
  assert.deepEqual(events(proxy), ['asked', 'asked', 'opened']);
  assert.equal((await submitPage(mine, { token: 'key-123' })).status, 200);
});

test('a form from another site is refused before anything is looked at; one of this site is taken (A17, A23)', async (t) => {
  const { proxy, url } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const page = await link(client);
  const body = new URLSearchParams({ csrf: csrfIn((await openPage(page)).html), action: 'decline' }).toString();
  const { port } = new URL(page);
  const post = async (headers: Readonly<Record<string, string | readonly string[]>>) =>
    (await send(page, { headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body })).status;
  const refused: readonly Readonly<Record<string, string | readonly string[]>>[] = [
    { origin: 'https://evil.example' },
    { origin: `http://127.0.0.1.evil.example:${port}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { origin: `https://127.0.0.1:${port}` },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'null' },
    { origin: '' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { host: `evil.example:${port}` },
    { host: '127.0.0.1' },
  ];
  for (const headers of refused) assert.equal(await post(headers), 403, JSON.stringify(headers));
  assert.deepEqual(events(proxy), ['asked', 'opened']);
  const taken: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: `http://127.0.0.1:${port}` },
    { origin: `http://localhost:${port}`, host: `localhost:${port}` },
    { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of taken) assert.equal(await post(headers), 200, JSON.stringify(headers));
});

test('a link that came through another proxy is not shown to whoever that lets in, and stays good (A16)', async (t) => {
  const { proxy, url } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const page = await link(client);
  for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    const { status, html } = await openPage(page, { [name]: '203.0.113.7' });
    assert.equal(status, 403, name);
    assert.match(html, /Only on the same computer/);
    assert.doesNotMatch(html, /Signed in as|<form/);
  }
  assert.deepEqual(events(proxy), ['asked']);
  assert.equal((await submitPage(page, { token: 'key-123' })).status, 200);
});

test('no page can be framed, scripted, kept or leak its address; the style sheet may be kept (A23)', async (t) => {
  const { url, proxy } = await startGateway(t, { file: 'limits: { perAddress: { pages: 30/1m } }' });
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const address = await link(client);
  const entry = await openPage(address);
  const pages = {
    entry,
    unknown: await openPage(`${proxy.origin}/connect/unknown`),
    forwarded: await openPage(address, { 'x-forwarded-for': '203.0.113.7' }),
    problem: await submitPage(address, { token: '' }),
    large: await submitPage(address, { token: 'x'.repeat(300_000) }),
    declined: await submitPage(address, { action: 'decline' }),
    done: await submitPage(address, { token: 'key-123' }),
    already: await openPage(address),
    tooMany: await openUntilRefused(address),
  };
  assert.deepEqual(Object.values(pages).map(({ status }) => status), [200, 404, 403, 422, 413, 200, 200, 200, 429]);
  for (const [name, { headers }] of Object.entries(pages)) {
    assert.deepEqual(
      Object.fromEntries(['content-security-policy', 'cache-control', 'referrer-policy', 'x-content-type-options', 'x-frame-options', 'cross-origin-opener-policy', 'cross-origin-resource-policy', 'content-type'].map((header) => [header, headers.get(header)])),
      {
        'content-security-policy': "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-type': 'text/html; charset=utf-8',
      },
      name,
    );
    for (const header of ['set-cookie', 'server', 'x-powered-by', 'access-control-allow-origin', 'strict-transport-security', 'etag']) assert.equal(headers.get(header), null, `${name} ${header}`);
  }
  const style = await openPage(new URL(/href="([^"]*\.css)"/.exec(entry.html)?.[1] ?? '', proxy.origin).href);
  assert.equal(style.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
  assert.equal(style.headers.get('x-content-type-options'), 'nosniff');
});

async function openUntilRefused(address: string) {
  for (;;) {
    const page = await openPage(address);
    if (page.status !== 200) return page;
  }
}

const shapes = (text: string) => [
  `"><script>${text}</script>`,
  `'><img src=x onerror=${text}>`,
  `</title></textarea></style></dd><svg onload=${text}>`,
  `<a href="javascript:${text}">x</a>`,
  `" autofocus onfocus="${text}`,
  `' onmouseover='${text}`,
  `<!--${text}--><base href=//evil.example>`,
  `<%= ${text} %><%~ ${text} %>`,
  `{{${text}}} <iframe srcdoc="${text}">`,
  `&lt;script&gt;${text}&#60;/script&#62;`,
];
/** Fifty: ten ways out of a text, each around five things to run or to load. */
const payloads = ['alert(1)', 'document.title=1', '//evil.example/x', 'fetch(`//evil.example`)', '\u2028\u202e\u0007\ud83d\udd11'].flatMap(shapes);

const hostileTitles = () => {
  const quoted = (text: string) => JSON.stringify(text).replaceAll('${', '$${');
  const credential = (text: string, index: number) => `  c${index}: { kind: apiKey, title: ${quoted(text)}, description: ${quoted(text)}, fields: [{ name: token, secret: false, pattern: '^x$', label: ${quoted(text)}, hint: ${quoted(text)} }], inject: { headers: { X-Key-${index}: "{token}" } } }`;
  return `
credentials:
  harmless: { kind: apiKey, title: A, description: A, fields: [{ name: token, secret: false, pattern: '^x$', label: A, hint: A }], inject: { headers: { X-Key: "{token}" } } }
${payloads.map(credential).join('\n')}
upstreams:
  main:
    title: ${quoted(payloads[0] ?? '')}
    url: \${UPSTREAM}
    # A tool's name begins as the rule says and goes on as its caller likes.
    rules:
      - { tools: ["harmless-*"], requires: [harmless] }
${payloads.map((_text, index) => `      - { tools: ["t${index}-*"], requires: [c${index}] }`).join('\n')}
pages: { name: ${quoted(payloads[1] ?? '')}, links: [{ title: ${quoted(payloads[2] ?? '')}, url: https://example.com }] }
limits: { perUser: { openInteractions: 100, submissions: 1000/1m }, perAddress: { pages: 1000/1m } }
`;
};

/** A client and a tool called so ask for the credential of the same name; a tool with hidden characters in its name is none. */
async function linkNamed(url: string, text: string, prefix: string): Promise<string> {
  const client = await connect(url, { capabilities: urlMode, clientInfo: { name: text, title: text, version: '1' } });
  const tool = `${prefix}-${text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')}`;
  return `${await link(client, tool)}?lang=${encodeURIComponent(text)}`;
}

/** What makes markup of a page: two pages with other words in the same places are alike in it. */
const markup = (html: string) => html.replaceAll(/[^<>"']/g, '');

test('fifty texts that want to be markup stay texts, as titles, labels, hints, names of tools and clients, languages, and typed again (A23)', async (t) => {
  const { url } = await startGateway(t, { file: hostileTitles() });
  const harmless = await linkNamed(url, 'A', 'harmless');
  const plain = { asked: markup((await openPage(harmless)).html), again: markup((await submitPage(harmless, { token: 'A' })).html) };
  for (const [index, text] of payloads.entries()) {
    const address = await linkNamed(url, text, `t${index}`);
    assert.equal(markup((await openPage(address)).html), plain.asked, text);
    assert.equal(markup((await submitPage(address, { token: text })).html), plain.again, text);
  }
});

test('the same texts run nothing and load nothing in a browser (A23)', { skip }, async (t) => {
  assert.ok(browser);
  const { url } = await startGateway(t, { file: hostileTitles() });
  const page = await browser.newPage();
  const happened: string[] = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && host !== new URL(url).host) happened.push(request.url());
  });
  page.on('dialog', (dialog) => {
    happened.push(dialog.message());
    void dialog.dismiss();
  });
  // One of each shape.
  for (const [index, text] of payloads.entries().filter(([at]) => Math.floor(at / 10) === at % 5)) {
    await page.goto(await linkNamed(url, text, `t${index}`));
    await page.locator('input[name=token]').fill(text);
    await page.getByRole('button', { name: 'Save and continue' }).click();
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll('script, base, iframe, object, embed, style, main img').length,
      handlers: [...document.querySelectorAll('*')].flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith('on')),
      schemes: [...new Set([...document.links].map(({ protocol }) => protocol))],
      heading: document.querySelector('h1')?.textContent,
      typed: document.querySelector<HTMLInputElement>('input[name=token]')?.value,
    }));
    assert.deepEqual(found, { elements: 0, handlers: [], schemes: ['http:', 'https:'], heading: `Connect ${text}`, typed: text }, text);
  }
  assert.deepEqual(happened, []);
  await page.close();
});

test('another site can neither frame the page nor send its form in the browser (A23)', { skip }, async (t) => {
  assert.ok(browser);
  const { proxy, url } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode, clientInfo });
  const address = await link(client);
  const csrf = csrfIn((await openPage(address)).html);
  // Even the right token would not help a site that had come by it.
  const evil = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<iframe src="${address}"></iframe><form method="post" action="${address}"><input name="csrf" value="${csrf}"><input name="token" value="key-123"><button name="action" value="give">Win a prize</button></form>`);
  });
  evil.listen(0, '127.0.0.1');
  await once(evil, 'listening');
  t.after(() => {
    evil.close();
    evil.closeAllConnections();
  });
  const page = await browser.newPage();
  const blocked = page.waitForEvent('requestfailed', (request) => request.url() === address);
  // Another name of this machine: another site to the browser.
  await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
  assert.equal((await blocked).failure()?.errorText, 'net::ERR_BLOCKED_BY_RESPONSE');
  await page.getByRole('button', { name: 'Win a prize' }).click();
  await page.waitForURL(address);
  assert.match(await page.getByRole('main').innerText(), /The form did not come from this page/);
  assert.deepEqual(events(proxy).filter((event) => event !== 'opened'), ['asked']);
  await page.close();
});
