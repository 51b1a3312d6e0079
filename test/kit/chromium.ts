/**
 * Chromium for tests that need a real browser: finds the one that is installed (CHROMIUM, or the usual
 * names in PATH) and launches it without a single request of its own. Where there is none the tests are
 * left out with a reason; under CI=true that is an error, because nothing may be left out there.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium as engine } from 'playwright-core';
import type { Browser } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const quietly = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export type Chromium =
  | { readonly browser: Browser; readonly skip: false }
  | { readonly browser: undefined; readonly skip: string };

/**
 * @returns a browser for the caller to close, or the reason to skip: both fit `test(name, { skip }, …)`
 * @throws Error under CI=true when no Chromium is installed
 */
export async function chromium(): Promise<Chromium> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    const skip = 'no Chromium found: install Debian\'s package "chromium", or name one in CHROMIUM';
    if (process.env['CI'] === 'true') throw new Error(skip);
    return { browser: undefined, skip };
  }
  return { browser: await engine.launch({ executablePath, args: quietly }), skip: false };
}

/** The path of an installed Chromium, if there is one. */
export function findChromium(): string | undefined {
  const named = process.env['CHROMIUM'] ?? '';
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [named, ...candidates].find((path) => path !== '' && isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
