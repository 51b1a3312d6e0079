import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { renderEntry } from '../../src/pages/views.ts';
import { chromium } from '../kit/chromium.ts';
import { open } from './opened.ts';
import type { Opened } from './opened.ts';
import { sampleEntry, sampleEntryWithProblems, sampleFrame, samplePages } from './samples.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

interface Focused {
  readonly stop: string;
  readonly isSeen: boolean;
}

const lines = [{ name: 'key', label: 'Private key', secret: true, multiline: true }];
const pages = {
  ...samplePages(sampleFrame('en')),
  lines: renderEntry(sampleFrame('en'), { ...sampleEntry, fields: lines }),
};

/** One window for all tests; each begins by loading its page. */
const opened = browser === undefined ? undefined : await open({ after }, browser, pages);

async function openPage(name: string): Promise<Opened> {
  assert.ok(opened, 'the test is left out where there is no browser');
  await opened.go(name);
  return opened;
}

async function walk({ page, ask }: Opened, stops: readonly string[]): Promise<void> {
  for (const stop of stops) {
    await page.keyboard.press('Tab');
    assert.deepEqual(await ask<Focused>('focused()'), { stop, isSeen: true });
  }
}

const header = ['Language English', 'Not you?', 'Your connections'];
const footer = ['Get help', 'Privacy'];

describe('the Tab key reaches everything once, in reading order, and the focus can always be seen', () => {
  const walks: Readonly<Record<string, readonly string[]>> = {
    entry: [
      ...header,
      'Where to find this on github.com (opens in a new tab)',
      'input token',
      'Save and continue',
      'Not now',
      ...footer,
    ],
    consent: [...header, 'Allow', 'Not now', 'Store a different one instead', ...footer],
    account: [
      'Language English',
      'Not you?',
      ...['Replace', 'Disconnect', 'Connect', 'Replace', 'Disconnect', 'Replace', 'Disconnect'],
      'Sign out',
      ...footer,
    ],
    'wrong-person': ['Language English', 'Use another account', ...footer],
  };
  for (const [name, stops] of Object.entries(walks)) {
    test(`on the page ${name}`, { skip }, async () => {
      const shown = await openPage(name);
      await walk(shown, stops);
      const controls = shown.page.locator('a, button, summary, input:not([type=hidden]), textarea').filter({ visible: true });
      assert.equal(await controls.count(), stops.length);
    });
  }
});

test('Enter opens the languages, and Tab goes through them', { skip }, async () => {
  const shown = await openPage('entry');
  await shown.page.keyboard.press('Tab');
  await shown.page.keyboard.press('Enter');
  await walk(shown, ['English', 'Deutsch', '简体中文', 'ไทย', 'Not you?']);
});

test('disconnecting takes two steps, and posts which connection is meant', { skip }, async () => {
  const { page, served } = await openPage('account');
  await page.locator('summary').filter({ hasText: 'Disconnect' }).first().press('Enter');
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Delete and disconnect' }).press('Enter');
  await answered;
  assert.deepEqual(
    [...(served.posted.at(-1) ?? [])],
    [['csrf', 'csrf-t0ken'], ['upstream', 'github'], ['credential', 'token'], ['action', 'disconnect']],
  );
});

test('a button is described by the connection that it is for', { skip }, async () => {
  const { page } = await openPage('account');
  const described = await page.getByRole('button', { name: 'Replace' }).all();
  const names = described.map((button) => button.getAttribute('aria-describedby'));
  const titles = (await Promise.all(names)).map((id) => page.locator(`#${id ?? ''}`).textContent());
  assert.deepEqual(await Promise.all(titles), ['GitHub', 'Jira', 'Wiki']);
});

test('every input is found by its label and described by its hint and its problem', { skip }, async () => {
  const { page, ask } = await openPage('entry-problems');
  for (const { name, label } of sampleEntryWithProblems.fields) {
    assert.equal(await page.getByLabel(label, { exact: true }).getAttribute('name'), name);
  }
  assert.deepEqual(await ask(`descriptions('key')`), [
    'PEM, several lines',
    'Please check: This is longer than it can be. Please paste only the value itself.',
  ]);
});

test('after a problem the first field concerned has the focus, and the summary is an alert', { skip }, async () => {
  const { page, ask } = await openPage('entry-problems');
  // The browser follows `autofocus` with the first frame that it draws, which may come after the load event.
  await page.locator(':focus').waitFor();
  assert.deepEqual(await ask<Focused>('focused()'), { stop: 'input email', isSeen: true });
  assert.match((await page.getByRole('alert').textContent()) ?? '', /3 entries need another look/);
});

test('a link of the summary leads to its field', { skip }, async () => {
  const { page, ask } = await openPage('entry-problems');
  await page.getByRole('alert').getByRole('link', { name: 'Private key' }).press('Enter');
  await page.waitForURL('**/entry-problems#field-4');
  assert.deepEqual(await ask<Focused>('focused()'), { stop: 'input key', isSeen: true });
});

test('typing a key and pressing Enter gives it', { skip }, async () => {
  const { page, served } = await openPage('entry');
  await page.getByLabel('Personal access token').fill('ghp_abc');
  await page.keyboard.press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.deepEqual([...(served.posted.at(-1) ?? [])], [['csrf', 'csrf-t0ken'], ['token', 'ghp_abc'], ['action', 'give']]);
});

test('"not now" works with every field empty', { skip }, async () => {
  const { page, served } = await openPage('entry');
  await page.getByRole('button', { name: 'Not now' }).press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted.at(-1)?.get('action'), 'decline');
});

test('an empty key is not sent: the browser points at its field', { skip }, async () => {
  const { page, served, ask } = await openPage('entry');
  const before = served.posted.length;
  await page.getByRole('button', { name: 'Save and continue' }).press('Enter');
  assert.deepEqual(await ask<Focused>('focused()'), { stop: 'input token', isSeen: true });
  assert.equal(served.posted.length, before);
});

test('a key of several lines arrives as it was pasted', { skip }, async () => {
  const { page, served } = await openPage('lines');
  await page.getByLabel('Private key').fill('\n-----BEGIN KEY-----\nabc\n-----END KEY-----\n');
  await page.getByRole('button', { name: 'Save and continue' }).press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted.at(-1)?.get('key'), '\r\n-----BEGIN KEY-----\r\nabc\r\n-----END KEY-----\r\n');
});

test('a browser that runs no scripts is enough', { skip }, async (t) => {
  const { page, served, go } = await open(t, browser, pages, { javaScriptEnabled: false });
  await go('entry');
  await page.getByLabel('Personal access token').fill('ghp_abc');
  await page.getByRole('button', { name: 'Save and continue' }).press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted[0]?.get('token'), 'ghp_abc');
});
