import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { chromium } from '../kit/chromium.ts';
import { sampleFrame, samplePages } from './samples.ts';
import { servePages } from './served.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

const pages = samplePages(sampleFrame('de'));

type Options = Parameters<NonNullable<typeof browser>['newPage']>[0];

/** Visits every page and collects what `look` finds, each finding with the name of its page. */
async function onEveryPage(
  options: Options & { readonly accent?: string },
  look: (page: Page) => Promise<readonly string[]>,
  prepare?: (page: Page) => Promise<void>,
): Promise<readonly string[]> {
  assert.ok(browser);
  const { accent, ...context } = options;
  const served = await servePages(pages, accent);
  const page = await browser.newPage({ reducedMotion: 'reduce', ...context });
  await prepare?.(page);
  const findings: string[] = [];
  page.on('console', (entry) => findings.push(entry.text()));
  for (const name of Object.keys(pages)) {
    await page.goto(served.url(name));
    findings.push(...(await look(page)).map((finding) => `${name}: ${finding}`));
  }
  await page.close();
  await served.close();
  return findings;
}

const tooWide = (page: Page) =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const wide = [...document.querySelectorAll('body *')].filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return right > clientWidth + 0.5 || left < -0.5;
    });
    return [
      ...(scrollWidth > clientWidth ? [`the page is ${String(scrollWidth)} pixels wide`] : []),
      ...wide.map((element) => element.outerHTML.slice(0, 80)),
    ];
  });

for (const width of [320, 390, 640, 960, 1280]) {
  test(`nothing is wider than a window of ${String(width)} pixels, and the strict policy blocks nothing`, { skip }, async () => {
    assert.deepEqual(await onEveryPage({ viewport: { width, height: 800 } }, tooWide), []);
  });
}

test('nothing is wider than a phone for people who read at twice the text size', { skip }, async () => {
  const findings = await onEveryPage({ viewport: { width: 390, height: 800 } }, tooWide, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
  });
  assert.deepEqual(findings, []);
});

const tooSmall = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('a, button, input:not([type=hidden]), textarea')]
      .filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width < 44 || height < 44;
      })
      .map((element) => element.outerHTML.slice(0, 80)),
  );

for (const width of [320, 1280]) {
  test(`everything that can be pressed is at least 44 pixels each way at ${String(width)} pixels`, { skip }, async () => {
    assert.deepEqual(await onEveryPage({ viewport: { width, height: 800 } }, tooSmall), []);
  });
}

/** Every text on the page whose contrast with what is painted behind it is below 4.5 (WCAG 2.2, 1.4.3). */
const tooFaint = (page: Page) =>
  page.evaluate(() => {
    const parts = (colour: string) => colour.match(/[\d.]+/g)?.map(Number) ?? [];
    const luminance = (colour: string) =>
      parts(colour)
        .slice(0, 3)
        .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, index) => sum + part * ([0.2126, 0.7152, 0.0722][index] ?? 0), 0);
    const behind = (element: Element | null): string => {
      if (element === null) return 'rgb(255, 255, 255)';
      const { backgroundColor } = getComputedStyle(element);
      return parts(backgroundColor)[3] === 0 ? behind(element.parentElement) : backgroundColor;
    };
    return [...document.querySelectorAll('body *')]
      .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim() !== ''))
      .filter((element) => {
        const [dark = 0, light = 0] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05) < 4.5;
      })
      .map((element) => element.outerHTML.slice(0, 80));
  });

for (const colorScheme of ['light', 'dark'] as const) {
  for (const accent of ['#2f6f4f', '#ffd500', '#000000']) {
    test(`every text on every page is readable on ${colorScheme} with the accent ${accent}`, { skip }, async () => {
      assert.deepEqual(await onEveryPage({ colorScheme, accent }, tooFaint), []);
    });
  }
}

test('nothing moves while a page loads', { skip }, async () => {
  const moved = (page: Page) =>
    page.evaluate(async () => {
      const shifts = await new Promise<number>((resolve) => {
        const observer = new PerformanceObserver(() => undefined);
        observer.observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => {
          requestAnimationFrame(() => {
            resolve(observer.takeRecords().length);
          });
        });
      });
      return shifts === 0 ? [] : [`${String(shifts)} shifts`];
    });
  assert.deepEqual(await onEveryPage({ viewport: { width: 390, height: 800 } }, moved), []);
});

test('with forced colours the main button and the icons keep an edge', { skip }, async () => {
  const edges = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll('button, .seal')]
        .filter((element) => Number.parseFloat(getComputedStyle(element).borderTopWidth) < 1)
        .map((element) => element.outerHTML.slice(0, 80)),
    );
  assert.deepEqual(await onEveryPage({ forcedColors: 'active' }, edges), []);
});
