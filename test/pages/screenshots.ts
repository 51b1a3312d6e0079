/**
 * Not a test: takes a picture of every page in light and dark, on a phone and a desk, in each language,
 * into the ignored folder `screenshots/`, for a person to look at.
 *
 *   node test/pages/screenshots.ts [--accent '#2f6f4f'] [part of a page's name]…
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
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

for (const language of shippedLanguages) {
  const pages = samplePages(sampleFrame(language));
  const served = await servePages(pages, values.accent);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [width, height] of [[390, 844], [1280, 800]] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height } });
      for (const name of Object.keys(pages)) {
        if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue;
        await page.goto(served.url(name));
        const picture = await page.screenshot({ fullPage: true });
        await writeFile(new URL(`${name}.${language}.${colorScheme}.${String(width)}.png`, folder), picture);
      }
      await page.close();
    }
  }
  await served.close();
}
await browser.close();
