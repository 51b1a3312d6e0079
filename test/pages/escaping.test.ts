import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { renderEntry } from '../../src/pages/views.ts';
import { chromium } from '../kit/chromium.ts';
import { hostileEntry, hostileFrame, hostilePages, hostileTexts } from './hostile.ts';
import { open } from './opened.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

for (const [what, text] of Object.entries(hostileTexts)) {
  test(`${what} in every text stays text`, () => {
    for (const [name, html] of Object.entries(hostilePages(text))) {
      assert.doesNotMatch(html, /<script|<img src=x|<%/i, name);
      assert.equal(html.match(/<title>/g)?.length, 1, name);
      assert.equal(html.match(/<\/title>/g)?.length, 1, name);
    }
  });
}

const { 'a very long word': longWord, ...attacks } = hostileTexts;

/** All attacks in one text, so that a browser has to load each page only once. */
for (const [what, text] of Object.entries({ 'every attack': Object.values(attacks).join(' '), 'a very long word': longWord })) {
  test(`${what} in every text makes no element and no handler in a browser, and fits 320 pixels`, { skip }, async (t) => {
    const pages = hostilePages(text);
    const { go, ask } = await open(t, browser, pages, { viewport: { width: 320, height: 640 } });
    for (const name of Object.keys(pages)) {
      await go(name);
      await ask('openAll()');
      assert.deepEqual(await ask('[...injected(), ...tooWide()]'), [], name);
    }
  });
}

test('a field keeps its exact name, whatever it is', { skip }, async (t) => {
  const name = `a"b'<c>&amp;[d] é`;
  const fields = [{ name, label: 'Key', secret: true, multiline: false }];
  const html = renderEntry(hostileFrame('x'), { ...hostileEntry('x'), fields });
  const { page, go } = await open(t, browser, { entry: html });
  await go('entry');
  assert.equal(await page.getByLabel('Key').getAttribute('name'), name);
});
