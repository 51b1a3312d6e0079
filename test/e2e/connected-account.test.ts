/**
 * An account is connected in Chromium: a real provider for the login here, another one as the third party on
 * an origin of its own, the form that leads there (CSP `form-action`), and two people in two browsers.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { chromium } from '../kit/chromium.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startRightPerson } from '../kit/right-person.ts';
import { startThirdParty } from '../kit/third-party.ts';

const { browser, skip } = await chromium();
const provider = await startIdentityProvider();
const third = await startThirdParty();
after(() => Promise.all([browser?.close(), provider.close(), third.close()]));

async function openBrowser(t: TestContext): Promise<Page> {
  assert.ok(browser);
  const context = await browser.newContext();
  await context.route(/fonts\.googleapis\.com/, (route) => route.abort());
  t.after(() => context.close());
  return context.newPage();
}

async function logIn(page: Page, person: string): Promise<void> {
  await page.locator('input[name=login]').fill(person);
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
}

async function start(t: TestContext, issuer = third.issuer, account = third.client) {
  const file = `credentials: { box: { kind: oauth, title: Box, issuer: "${issuer}", ${account}, scopes: [read], inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [box] }] } }`;
  const running = await startRightPerson(t, provider, { file });
  return { ...running, linkFor: async (person: string) => running.link(await running.client(person)) };
}

test('she reads where she goes, goes there, allows it, and is back where the call goes on', { skip }, async (t) => {
  const { linkFor, client, upstream } = await start(t);
  const page = await openBrowser(t);
  await page.goto(await linkFor('ada'));
  await logIn(page, 'ada');
  await page.getByRole('heading', { name: 'Connect Box' }).waitFor();
  assert.match(await page.locator('main').innerText(), new RegExp(`${third.issuer}[^]*read[^]*Ada Lovelace`));
  await page.getByRole('button', { name: `Continue to ${new URL(third.issuer).host}` }).click();
  await page.waitForURL(`${third.issuer}/**`);
  await logIn(page, 'ada-at-third');
  await page.getByRole('heading', { name: 'Box is connected' }).waitFor();
  await (await client('ada')).call('paid');
  const token = upstream.requests.at(-1)?.header('authorization')?.replace('Bearer ', '') ?? '';
  assert.equal((await third.check(token))?.person, 'ada-at-third');
  await page.reload();
  await page.getByRole('heading', { name: 'This attempt is no longer valid' }).waitFor();
});

test('a person who is handed somebody else’s way to the third party connects nothing, for nobody (A2)', { skip }, async (t) => {
  const { linkFor, proxy } = await start(t);
  const phisher = await openBrowser(t);
  await phisher.goto(await linkFor('ben'));
  await logIn(phisher, 'ben');
  await phisher.getByRole('button', { name: /^Continue to/ }).click();
  await phisher.waitForURL(`${third.issuer}/**`);
  const victim = await openBrowser(t);
  await victim.goto(`${proxy.origin}/account`);
  await logIn(victim, 'ada');
  await victim.getByRole('heading', { name: 'Your connections' }).waitFor();
  const address = await phisher.evaluate(() => document.location.href);
  // The interaction of the third party is bound to its browser; its authorize address is not.
  assert.match(address, /\/interaction\//);
  const form = await phisher.context().newPage();
  await form.goto(await linkFor('ben'));
  const [request] = await Promise.all([form.waitForRequest((one) => one.url().startsWith(`${third.issuer}/auth?`)), form.getByRole('button', { name: /^Continue to/ }).click()]);
  const before = third.tokenRequests('authorization_code').length;
  await victim.goto(request.url());
  await logIn(victim, 'ada-at-third');
  await victim.getByRole('heading', { name: 'This attempt is no longer valid' }).waitFor();
  assert.equal(third.tokenRequests('authorization_code').length, before);
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
});

test('the form of a page may lead to its third party and nowhere else on http', { skip }, async (t) => {
  const elsewhere = createServer((_request, response) => { response.end('reached'); });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  t.after(() => { elsewhere.close(); });
  const target = `http://127.0.0.1:${String((elsewhere.address() as AddressInfo).port)}/`;
  const { linkFor } = await start(t);
  const page = await openBrowser(t);
  const refused: string[] = [];
  page.on('console', (message) => { refused.push(message.text()); });
  await page.goto(await linkFor('ada'));
  await logIn(page, 'ada');
  await page.getByRole('heading', { name: 'Connect Box' }).waitFor();
  const spoken = page.waitForEvent('console', (message) => message.text().includes('form-action'));
  await page.evaluate((address) => {
    const form = document.querySelector('form');
    form?.setAttribute('action', address);
    form?.submit();
  }, target);
  await spoken;
  assert.match(refused.join('\n'), /form-action/);
});
