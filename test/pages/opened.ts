/** Pages opened in Chromium for a test, or for all tests of a file, and closed after it, whatever happens in between. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { servePages } from './served.ts';
import type { Served } from './served.ts';

const inPage = fileURLToPath(new URL('in-page.js', import.meta.url));

export interface Opened {
  readonly page: Page;
  readonly served: Served;
  /** What the browser complained about, such as a part that the policy blocked. */
  readonly complaints: readonly string[];
  /** Goes to a page by its name. */
  readonly go: (name: string) => Promise<void>;
  /** Calls a function of in-page.js, written as an expression. */
  readonly ask: <Answer>(expression: string) => Promise<Answer>;
}

/**
 * @param scope a test's context, or `node:test` itself for all tests of a file
 * @param pages documents by name
 * @param window options of the browser's window
 */
export async function open(
  scope: { readonly after: (close: () => Promise<void>) => void },
  browser: Browser | undefined,
  pages: Readonly<Record<string, string>>,
  window: NonNullable<Parameters<Browser['newPage']>[0]> = {},
): Promise<Opened> {
  assert.ok(browser, 'the test is left out where there is no browser');
  const served = await servePages(pages);
  const context = await browser.newContext({ reducedMotion: 'reduce', ...window });
  scope.after(async () => {
    await context.close();
    await served.close();
  });
  await context.addInitScript({ path: inPage });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (entry) => complaints.push(entry.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return {
    page,
    served,
    complaints,
    go: async (name) => {
      await page.goto(served.url(name));
    },
    ask: (expression) => page.evaluate(expression),
  };
}
