/**
 * Two people, two browsers, a real identity provider, the official client and an unmodified server: the
 * person in the browser is the person whose call was elicited (A1, A3, A29, E2, O2).
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test, type TestContext } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { chromium } from '../kit/chromium.ts';
import { startContext7 } from '../kit/context7.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { protectContext7, question, tool } from '../kit/protected-context7.ts';
import { authorizeSdkClient, connectSdkClient } from '../kit/sdk-client.ts';

const { browser, skip } = await chromium();
const provider = await startIdentityProvider();
const context7 = await startContext7();
/** Where the client's own login comes back to. */
const returned = createServer((_request, response) => { response.end('You may close this window.'); });
returned.listen(0, '127.0.0.1');
await once(returned, 'listening');
const redirectUrl = `http://127.0.0.1:${String((returned.address() as AddressInfo).port)}/callback`;
after(async () => {
  returned.close();
  returned.closeAllConnections();
  await Promise.all([browser?.close(), provider.close(), context7.close()]);
});

const identity = `identity: { oauth: { issuer: "${provider.issuer}", requiredScopes: [mcp], login: ${provider.login} } }\n`;

/** A browser of her own, which knows nothing yet. */
async function openBrowser(t: TestContext): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
  assert.ok(browser);
  const context = await browser.newContext();
  await context.route(/fonts\.googleapis\.com/, (route) => route.abort());
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  return { context, page };
}

async function logIn(page: Page, person: string): Promise<void> {
  await page.locator('input[name=login]').fill(person);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();

test('from a 401 to the answer: token, call, question, login, page, done, call; another person at the link gets nothing', { skip }, async (t) => {
  const { proxy } = await protectContext7(t, context7, identity);
  const url = `${proxy.origin}/mcp`;
  const ada = await openBrowser(t);
  const authProvider = await authorizeSdkClient(url, 'desk', redirectUrl, async (address) => {
    await ada.page.goto(address.href);
    await logIn(ada.page, 'ada');
    await ada.page.waitForURL(`${redirectUrl}**`);
    return new URL(ada.page.url());
  });
  const client = await connectSdkClient(url, { authProvider });
  const [asked] = await client.ask(tool, question);
  assert.ok(asked);

  const ben = await openBrowser(t);
  await ben.page.goto(asked.url);
  await logIn(ben.page, 'ben');
  await ben.page.waitForURL(asked.url);
  assert.match(await ben.page.getByRole('main').innerText(), /Signed in as\s+Ben Ali/);
  assert.equal(await ben.page.locator('main form, main input').count(), 0);
  assert.doesNotMatch(await ben.page.content(), /ada|lovelace/i);

  await ada.page.goto(asked.url);
  await ada.page.waitForURL(asked.url);
  assert.equal(await heading(ada.page), 'Connect Context7', 'her provider knew her already');
  assert.match(await ada.page.getByRole('main').innerText(), /Stored for\s+Ada Lovelace/);
  await ada.page.locator('input[name=key]').fill('ctx7sk-of-ada');
  await ada.page.getByRole('button', { name: 'Save and continue' }).click();
  await client.completion(asked.elicitationId);
  assert.equal(await heading(ada.page), 'Context7 is connected');
  assert.match(JSON.stringify(await client.call(tool, question)), /content/);
  assert.equal(context7.requests.at(-1)?.key, 'ctx7sk-of-ada');
  assert.equal(client.received().includes('ctx7sk-of-ada'), false);
  await client.close();
  assert.deepEqual(proxy.audit.map(({ audit, subject, clientId }) => [audit, subject, clientId]), [
    ['asked', 'ada', 'desk'],
    ['login', 'ben', undefined],
    ['wrong-person', 'ben', undefined],
    ['login', 'ada', undefined],
    ['opened', 'ada', 'desk'],
    ['submitted', 'ada', 'desk'],
    ['stored', 'ada', 'desk'],
    ['used', 'ada', 'desk'],
  ]);
});

test('“not you?” at a link leads through the provider to the right person and back to the link', { skip }, async (t) => {
  const { proxy } = await protectContext7(t, context7, identity);
  const url = `${proxy.origin}/mcp`;
  const token = await provider.token('ada', { audience: url });
  const { page } = await openBrowser(t);
  const link = await linkFor(url, token);
  await page.goto(link);
  await logIn(page, 'ben');
  await page.waitForURL(link);
  await page.getByRole('main').getByRole('link').first().click();
  await logIn(page, 'ada');
  await page.waitForURL(link);
  assert.equal(await heading(page), 'Connect Context7');
});

async function linkFor(url: string, token: string): Promise<string> {
  const client = await connectSdkClient(url, { authProvider: { ...noLogin, tokens: () => ({ access_token: token, token_type: 'Bearer' }) } });
  const [asked] = await client.ask(tool, question);
  await client.close();
  return asked?.url ?? '';
}

const fail = (): never => {
  throw new Error('no login is expected');
};
const noLogin = { redirectUrl, clientMetadata: { redirect_uris: [redirectUrl] }, clientInformation: () => ({ client_id: 'desk' }), saveTokens: fail, redirectToAuthorization: fail, saveCodeVerifier: fail, codeVerifier: fail };

test('on her account page she connects before any call, and sees it, replaces it, disconnects it and logs out', { skip }, async (t) => {
  const { proxy } = await protectContext7(t, context7, identity);
  const { page } = await openBrowser(t);
  const account = `${proxy.origin}/account`;
  await page.goto(account);
  await logIn(page, 'ada');
  await page.waitForURL(account);
  const row = page.locator('.connection');
  assert.match(await row.innerText(), /Context7/);
  await row.getByRole('button', { name: 'Connect' }).click();
  await page.waitForURL(/\/connect\//);
  await page.locator('input[name=key]').fill('ctx7sk-first');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'Context7 is connected' }).waitFor();
  await page.getByRole('link', { name: 'Your connections' }).click();
  await row.getByRole('button', { name: 'Replace' }).click();
  await page.waitForURL(/\/connect\//);
  await page.locator('input[name=key]').fill('ctx7sk-second');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.goto(account);
  await row.locator('summary').click();
  await row.locator('button[value=disconnect]').click();
  await row.getByRole('button', { name: 'Connect' }).waitFor();
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['login', 'opened', 'submitted', 'stored', 'opened', 'submitted', 'stored', 'revoked']);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  assert.deepEqual((await page.context().cookies(proxy.origin)).filter(({ name }) => name.startsWith('elicitgate-')), []);
});

test('a form sent after her session has ended is answered, not blocked, and she comes back to her link (CSP form-action)', { skip }, async (t) => {
  const { proxy } = await protectContext7(t, context7, `${identity}elicitation: { expiresAfter: 12h }\n`);
  const url = `${proxy.origin}/mcp`;
  const { page } = await openBrowser(t);
  const link = await linkFor(url, await provider.token('ada', { audience: url }));
  await page.goto(link);
  await logIn(page, 'ada');
  await page.locator('input[name=key]').fill('ctx7sk-late');
  proxy.pass(31 * 60_000);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  assert.equal(await heading(page), 'This sign-in is no longer valid');
  assert.equal(proxy.audit.some(({ audit }) => audit === 'submitted'), false);
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.waitForURL(link);
  assert.equal(await heading(page), 'Connect Context7');
});
