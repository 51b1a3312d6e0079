import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from '../kit/chromium.ts';
import { open } from './opened.ts';
import { sampleFrame, samplePages } from './samples.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

/** One page of every layout in German, whose words are longer, and the widest of them in the other scripts. */
const layouts = ['entry', 'entry-problems', 'declined', 'done-by-itself', 'expired-renew', 'account', 'consent', 'wrong-person'];
const pages = { ...pick('de', layouts), ...pick('zh-CN', ['entry', 'account', 'consent']), ...pick('th', ['entry', 'account', 'consent']) };

const widths = [320, 390, 640, 960, 1280];
const accents = ['#2f6f4f', '#ffd500', '#000000'];

/** What was found wrong, by what was looked at; every page is loaded once for all of it. */
const found = new Map<string, string[]>();

before(
  async () => {
    if (browser === undefined) return;
    const { page, go, ask, complaints } = await open({ after }, browser, pages, { viewport: { width: 320, height: 800 } });
    const session = await page.context().newCDPSession(page);
    const setTextSize = (size: number) => session.send('Page.setFontSizes', { fontSizes: { standard: size, fixed: size } });
    for (const name of Object.keys(pages)) {
      const note = async (what: string, checks: string) => {
        const findings = await ask<string[]>(checks);
        found.set(what, [...(found.get(what) ?? []), ...findings.map((each) => `${name}: ${each}`)]);
      };
      await go(name);
      await note('moved', 'moved()');
      await ask('openAll()');
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        await note(`at ${String(width)}`, '[...tooWide(), ...tooSmall()]');
      }
      for (const accent of accents) {
        await ask(`restyle(${JSON.stringify(accent)})`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await note(`${colorScheme} ${accent}`, 'tooFaint()');
        }
      }
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
      await note('forced colours', 'edgeless()');
      await page.emulateMedia({ forcedColors: 'none' });
      await page.setViewportSize({ width: 390, height: 800 });
      await setTextSize(32);
      await note('twice the text', 'tooWide()');
      await setTextSize(16);
      await page.setViewportSize({ width: 320, height: 800 });
    }
    found.set('complaints', [...complaints]);
  },
  { timeout: 120_000 },
);

for (const width of widths) {
  test(`at ${String(width)} pixels nothing is too wide or too small to press, also in what can be opened`, { skip }, () => {
    assert.deepEqual(found.get(`at ${String(width)}`), []);
  });
}

test('at twice the text size nothing is wider than a phone', { skip }, () => {
  assert.deepEqual(found.get('twice the text'), []);
});

for (const colorScheme of ['light', 'dark']) {
  for (const accent of accents) {
    test(`every text is readable on ${colorScheme} pages with the accent ${accent}`, { skip }, () => {
      assert.deepEqual(found.get(`${colorScheme} ${accent}`), []);
    });
  }
}

test('with forced colours whatever has a shape keeps an edge', { skip }, () => {
  assert.deepEqual(found.get('forced colours'), []);
});

test('nothing moves while a page loads', { skip }, () => {
  assert.deepEqual(found.get('moved'), []);
});

test('the policy of the pages blocks nothing that they need', { skip }, () => {
  assert.deepEqual(found.get('complaints'), []);
});

function pick(language: string, names: readonly string[]): Readonly<Record<string, string>> {
  const all = samplePages(sampleFrame(language));
  return Object.fromEntries(names.map((name) => [`${name}.${language}`, all[name] ?? assert.fail(`no page is called ${name}`)]));
}
