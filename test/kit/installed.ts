/** Servers from the registry, as they were installed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** @returns the absolute path of an installed package's program */
export function programOf(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url) ?? assert.fail(`${name} is not installed: run npm ci`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly bin: string | Readonly<Record<string, string>> };
  return join(dirname(manifest), typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
}
