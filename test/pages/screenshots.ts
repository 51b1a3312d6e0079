/**
 * Not a test: takes a picture of every page in light and dark, on a phone and a desk, in each language,
 * into the ignored folder `screenshots/`, for a person to look at. What opens on a page is shown both ways.
 *
 *   node test/pages/screenshots.ts [--accent '#2f6f4f'] [part of a picture's name, such as account.th]…
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { defaultAccent } from '../../src/pages/style-sheet.ts';
import { shippedLanguages } from '../../src/pages/words.ts';
import { chromium } from '../kit/chromium.ts';
import { sampleFrame, samplePages } from './samples.ts';
import { servePages } from './served.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accent: { type: 'string', default: defaultAccent } },
});
const folder = new URL('../../screenshots/', import.meta.url);
await mkdir(folder, { recursive: true });

const { browser, skip } = await chromium();
if (browser === undefined) throw new Error(skip);
const window = await browser.newPage();

for (const language of shippedLanguages) {
  const pages = samplePages(sampleFrame(language));
  const served = await servePages(pages, values.accent);
  for (const name of Object.keys(pages)) {
    const views = ['light', 'dark'].flatMap((scheme) => [360, 1280].map((width) => ({ scheme, width, picture: `${name}.${language}.${scheme}.${String(width)}` })));
    const wanted = views.filter(({ picture }) => positionals.length === 0 || positionals.some((part) => picture.includes(part)));
    if (wanted.length === 0) continue;
    await window.goto(served.url(name));
    for (const { scheme, width, picture } of wanted) {
      await window.emulateMedia({ colorScheme: scheme === 'dark' ? 'dark' : 'light', reducedMotion: 'reduce' });
      await window.setViewportSize({ width, height: 800 });
      await take(window, picture);
      if (name === 'account') await takeOpened(window, picture);
    }
  }
  await served.close();
}
await browser.close();

async function take(page: Page, picture: string): Promise<void> {
  await writeFile(new URL(`${picture}.png`, folder), await page.screenshot({ fullPage: true }));
}

/** The languages, and the first of the connections that can be cut. */
async function takeOpened(page: Page, picture: string): Promise<void> {
  const [languages, connection] = [page.locator('summary').first(), page.locator('main summary').first()];
  for (const summary of [languages, connection]) await summary.click();
  await take(page, picture.replace('account.', 'account-opened.'));
  for (const summary of [connection, languages]) await summary.click();
}
