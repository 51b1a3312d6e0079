import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { renderAlreadyDone, renderDeclined, renderDone, renderEntry, renderExpired } from '../../src/pages/views.ts';
import { chromium } from '../kit/chromium.ts';
import { hostileEntry, hostileFrame, hostileTexts } from './hostile.ts';
import { servePages } from './served.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

function pagesWith(text: string): Readonly<Record<string, string>> {
  const frame = hostileFrame(text);
  return {
    entry: renderEntry(frame, hostileEntry(text)),
    done: renderDone(frame, { title: text, client: text, continues: 'by-itself' }),
    declined: renderDeclined(frame, { client: text }),
    expired: renderExpired(frame, { title: text, canRenew: true, action: text, csrf: text }),
    already: renderAlreadyDone(frame, { title: text }),
  };
}

for (const [what, text] of Object.entries(hostileTexts)) {
  test(`${what} in every text stays text`, () => {
    for (const html of Object.values(pagesWith(text))) {
      assert.doesNotMatch(html, /<script|<img src=x|<%/i);
      assert.equal(html.match(/<title>/g)?.length, 1);
      assert.equal(html.match(/<\/title>/g)?.length, 1);
    }
  });

  test(`${what} in every text makes no new element and no handler in a browser, and fits 320 pixels`, { skip }, async () => {
    assert.ok(browser);
    const pages = pagesWith(text);
    const served = await servePages(pages);
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    for (const name of Object.keys(pages)) {
      await page.goto(served.url(name));
      const found = await page.evaluate(() => ({
        scripts: document.scripts.length,
        foreign: document.querySelectorAll('main img, iframe, object, embed, style').length,
        handlers: [...document.querySelectorAll('*')]
          .flatMap((element) => element.getAttributeNames())
          .filter((attribute) => attribute.startsWith('on')),
        tooWide: [...document.querySelectorAll('body *')]
          .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
          .map((element) => element.outerHTML.slice(0, 80)),
        pageWidth: document.documentElement.scrollWidth,
      }));
      assert.deepEqual(found, { scripts: 0, foreign: 0, handlers: [], tooWide: [], pageWidth: 320 }, name);
    }
    await page.close();
    await served.close();
  });
}

test('a field keeps its exact name, whatever it is', { skip }, async () => {
  assert.ok(browser);
  const name = `a"b'<c>&amp;[d] é`;
  const entry = hostileEntry('x');
  const html = renderEntry(hostileFrame('x'), { ...entry, fields: [{ name, label: 'Key', secret: true, multiline: false }] });
  const served = await servePages({ entry: html });
  const page = await browser.newPage();
  await page.goto(served.url('entry'));
  assert.equal(await page.getByLabel('Key').getAttribute('name'), name);
  await page.close();
  await served.close();
});
