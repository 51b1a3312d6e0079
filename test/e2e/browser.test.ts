/** The connect page as people use it, in Chromium, from a real call to the stored key. Pictures of each page go to the ignored folder `screenshots/`. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after, test, type TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from '../kit/chromium.ts';
import { startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, linkIn, urlMode, type McpClient } from '../kit/mcp-client.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

const screenshots = fileURLToPath(new URL('../../screenshots/', import.meta.url));
mkdirSync(screenshots, { recursive: true });
const phone = { width: 390, height: 844 };

const file = `
credentials:
  jira:
    kind: apiKey
    title: Jira
    description: { en: "A token of your own, so that tools act as you.", de: "Ihr eigenes Token, damit die Werkzeuge in Ihrem Namen handeln." }
    help: https://id.atlassian.com/manage-profile/security/api-tokens
    expiresAfter: 90d
    fields:
      - { name: email, label: { en: E-mail, de: E-Mail }, secret: false }
      - { name: token, label: { en: API token, de: API-Token }, pattern: '^jira-', hint: { en: begins with jira-, de: beginnt mit jira- } }
    inject: { headers: { X-User: "{email}", X-Key: "{token}" } }
upstreams:
  main: { title: Issue tracker, url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [jira] }] }
pages: { name: Example Inc., support: "mailto:it@example.com", links: [{ title: { en: Privacy, de: Datenschutz }, url: https://example.com/privacy }] }
limits: { perAddress: { pages: 12/1m } }
`;

interface Desk extends RunningGateway {
  readonly client: McpClient;
  readonly page: Page;
  readonly link: () => Promise<string>;
}

async function sitDown(t: TestContext, options: BrowserContextOptions = {}, more = ''): Promise<Desk> {
  assert.ok(browser);
  const gateway = await startGateway(t, { file: file + more });
  const client = await connect(gateway.url, { capabilities: urlMode, clientInfo: { name: 'claude-code', title: 'Claude Code', version: '1' } });
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  t.after(() => context.close());
  return { ...gateway, client, page: await context.newPage(), link: async () => linkIn((await client.call('paid')).text) };
}

const picture = (page: Page, name: string) => page.screenshot({ path: `${screenshots}real-${name}.png`, fullPage: true });

async function keysThatArrived({ client, upstream }: Desk): Promise<readonly (string | undefined)[]> {
  await client.call('paid');
  const last = upstream.requests.at(-1);
  return [last?.header('x-user'), last?.header('x-key')];
}

test('a person with only a keyboard gives a key: what is missing, what is wrong, then done', { skip }, async (t) => {
  const desk = await sitDown(t);
  const { page } = desk;
  await page.goto(await desk.link());
  await picture(page, 'entry');
  const tabTo = async (selector: string) => {
    while (!(await page.locator(selector).evaluate((element) => element === document.activeElement))) await page.keyboard.press('Tab');
  };
  await tabTo('input[name=email]');
  await page.keyboard.type('ada@example.com');
  await page.keyboard.press('Tab');
  await page.keyboard.type('github-123');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await picture(page, 'wrong-pattern');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'token', 'the field to look at has the focus');
  assert.equal(await page.locator('input[name=email]').inputValue(), 'ada@example.com');
  assert.equal(await page.locator('input[name=token]').inputValue(), '');
  await page.keyboard.type('jira-123');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.getByRole('heading', { name: 'Jira is connected' }).waitFor();
  await picture(page, 'done-say-continue');
  assert.deepEqual(await keysThatArrived(desk), ['ada@example.com', 'jira-123']);
});

test('everything works without JavaScript, on a phone, in German and in the dark', { skip }, async (t) => {
  const desk = await sitDown(t, { javaScriptEnabled: false, locale: 'de-AT', viewport: phone, colorScheme: 'dark', isMobile: true, hasTouch: true });
  const { page } = desk;
  await page.goto(await desk.link());
  assert.match(await page.getByRole('main').innerText(), /Angefragt über\nClaude Code/);
  assert.equal(await page.title(), 'Jira verbinden für Issue tracker · Example Inc.');
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  await picture(page, 'entry-phone-german-dark');
  await page.getByLabel('E-Mail').fill('ada@example.com');
  await page.getByLabel('API-Token').fill('wrong');
  await page.getByRole('button', { name: 'Speichern und weiter' }).tap();
  await page.getByRole('alert').waitFor();
  await picture(page, 'wrong-pattern-phone-german-dark');
  await page.locator('summary').tap();
  await page.getByRole('link', { name: 'English' }).tap();
  await page.getByLabel('API token').fill('jira-123');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Save and continue' }).tap();
  await page.getByRole('heading', { name: 'Jira is connected' }).waitFor();
  await picture(page, 'done-phone-dark');
  assert.deepEqual(await keysThatArrived(desk), ['ada@example.com', 'jira-123']);
});

test('a phone shows every page without scrolling sideways', { skip }, async (t) => {
  const desk = await sitDown(t, { viewport: { width: 320, height: 640 } });
  const { page, proxy } = desk;
  const fits = async (name: string) => {
    await picture(page, `${name}-phone`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, name);
  };
  const [first, second] = [await desk.link(), await desk.link()];
  await page.goto(first);
  await fits('entry');
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByRole('heading', { name: 'All right, not now' }).waitFor();
  await fits('declined');
  await page.goto(`${proxy.origin}/connect/unknown`);
  await fits('not-found');
  proxy.pass(31 * 60_000);
  await page.goto(second);
  await fits('expired');
  await page.getByRole('button', { name: 'Get a new link' }).click();
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('API token').fill('jira-123');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'Jira is connected' }).waitFor();
  while ((await page.goto(first))?.status() !== 429);
  await page.getByRole('heading', { name: 'A short pause, please' }).waitFor();
  await fits('too-many');
});

test('going back and sending the form again finds the question answered', { skip }, async (t) => {
  const desk = await sitDown(t);
  const { page } = desk;
  const give = async (token: string) => {
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Save and continue' }).click();
  };
  await page.goto(await desk.link());
  await give('jira-first');
  await page.getByRole('heading', { name: 'Jira is connected' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Jira: all done already' }).waitFor();
  await picture(page, 'already-done');
  assert.deepEqual(await keysThatArrived(desk), ['ada@example.com', 'jira-first']);
});

test('Chromium hides where the form comes from, and it is accepted all the same (A23)', { skip }, async (t) => {
  const desk = await sitDown(t);
  const { page } = desk;
  await page.goto(await desk.link());
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Not now' }).click();
  const headers = await (await sent).allHeaders();
  assert.deepEqual([headers['origin'], headers['sec-fetch-site'], headers['referer'], headers['cookie']], ['null', 'same-origin', undefined, undefined]);
  await page.getByRole('heading', { name: 'All right, not now' }).waitFor();
  await picture(page, 'declined');
});

test('the page is its own: nothing is loaded from elsewhere, nothing breaks its policy, nothing is written to the console', { skip }, async (t) => {
  const desk = await sitDown(t);
  const { page, proxy } = desk;
  const elsewhere: string[] = [];
  const said: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${proxy.origin}/`) && !request.url().startsWith('data:')) elsewhere.push(request.url());
  });
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(await desk.link());
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByRole('heading', { name: 'All right, not now' }).waitFor();
  assert.deepEqual({ elsewhere, said }, { elsewhere: [], said: [] });
  assert.deepEqual(await page.context().cookies(), []);
});
