import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { renderEntry } from '../../src/pages/views.ts';
import { chromium } from '../kit/chromium.ts';
import { sampleEntry, sampleEntryWithProblems, sampleFrame, samplePages } from './samples.ts';
import { servePages } from './served.ts';
import type { Served } from './served.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

async function openEntry(entry = sampleEntry): Promise<{ page: Page; served: Served; close: () => Promise<void> }> {
  assert.ok(browser);
  const served = await servePages({ entry: renderEntry(sampleFrame('en'), entry), tick3t: '<title>posted</title>' });
  const page = await browser.newPage({ javaScriptEnabled: true });
  await page.goto(served.url('entry'));
  return {
    page,
    served,
    close: async () => {
      await page.close();
      await served.close();
    },
  };
}

/** Presses Tab until the page is left; what each stop is called, and whether its focus can be seen. */
async function walk(page: Page): Promise<readonly { readonly stop: string; readonly isSeen: boolean }[]> {
  const stops: { stop: string; isSeen: boolean }[] = [];
  for (;;) {
    await page.keyboard.press('Tab');
    const here = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body || element.hasAttribute('data-visited')) return undefined;
      element.setAttribute('data-visited', '');
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const name = element.getAttribute('name');
      return {
        stop: element.matches('input, textarea') ? `input ${name ?? ''}` : (element.textContent?.trim() ?? ''),
        isSeen: outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2,
      };
    });
    if (here === undefined) return stops;
    stops.push(here);
  }
}

test('the Tab key reaches everything once, in reading order, and the focus can always be seen', { skip }, async () => {
  const { page, close } = await openEntry();
  const stops = await walk(page);
  assert.deepEqual(
    stops.map(({ stop }) => stop),
    [
      'English',
      'Deutsch',
      'Where to find this on github.com (opens in a new tab)',
      'input token',
      'Save and continue',
      'Not now',
      'Get help',
      'Privacy',
    ],
  );
  assert.deepEqual(stops.filter(({ isSeen }) => !isSeen), []);
  await close();
});

test('every input can be found by its label and is described by its hint and its problem', { skip }, async () => {
  const { page, close } = await openEntry(sampleEntryWithProblems);
  for (const { name, label } of sampleEntryWithProblems.fields) {
    assert.equal(await page.getByLabel(label, { exact: true }).getAttribute('name'), name);
  }
  const described = await page.getByLabel('Private key', { exact: true }).evaluate((input) =>
    (input.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent?.trim()),
  );
  assert.deepEqual(described, [
    'PEM, several lines',
    'Please check: This is longer than it can be. Please paste only the value itself.',
  ]);
  await close();
});

test('after a problem the first field concerned has the focus, and the summary is an alert', { skip }, async () => {
  const { page, close } = await openEntry(sampleEntryWithProblems);
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'email');
  assert.match((await page.getByRole('alert').textContent()) ?? '', /3 entries need another look/);
  await close();
});

test('a link of the summary leads to its field', { skip }, async () => {
  const { page, close } = await openEntry(sampleEntryWithProblems);
  await page.getByRole('alert').getByRole('link', { name: 'Private key' }).click();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'key');
  await close();
});

test('typing a key and pressing Enter gives it', { skip }, async () => {
  const { page, served, close } = await openEntry();
  await page.getByLabel('Personal access token').fill('ghp_abc');
  await page.keyboard.press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.deepEqual(served.posted.map((form) => [...form]), [
    [
      ['csrf', 'csrf-t0ken'],
      ['token', 'ghp_abc'],
      ['action', 'give'],
    ],
  ]);
  await close();
});

test('"not now" works with every field empty', { skip }, async () => {
  const { page, served, close } = await openEntry();
  await page.getByRole('button', { name: 'Not now' }).press('Enter');
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted[0]?.get('action'), 'decline');
  await close();
});

test('an empty key is not sent at all', { skip }, async () => {
  const { page, served, close } = await openEntry();
  await page.getByRole('button', { name: 'Save and continue' }).click();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'token');
  assert.deepEqual(served.posted, []);
  await close();
});

test('lines of a key of several lines arrive as they were pasted', { skip }, async () => {
  const { page, served, close } = await openEntry({
    ...sampleEntry,
    fields: [{ name: 'key', label: 'Private key', secret: true, multiline: true }],
  });
  await page.getByLabel('Private key').fill('\n-----BEGIN KEY-----\nabc\n-----END KEY-----\n');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted[0]?.get('key'), '\r\n-----BEGIN KEY-----\r\nabc\r\n-----END KEY-----\r\n');
  await close();
});

test('everything works in a browser that runs no scripts', { skip }, async () => {
  assert.ok(browser);
  const served = await servePages(samplePages(sampleFrame('en')));
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(served.url('entry'));
  await page.getByLabel('Personal access token').fill('ghp_abc');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.waitForURL(served.url('connect/tick3t'));
  assert.equal(served.posted[0]?.get('token'), 'ghp_abc');
  await page.close();
  await served.close();
});
