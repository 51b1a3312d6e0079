/** The search that ends the suite (A18, A19) finds what it looks for, and looks into everything. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { searchTrace } from './planted.ts';

const secret = 'sk-0f9e8d/7c6b+5a';

test('a planted secret is found in any file of any proxy, plain, in base64 at any place, in hex and in a URL, and what was not left is not found', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-trace-test-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  writeFileSync(join(folder, 'planted'), `${JSON.stringify(secret)}\n${JSON.stringify('sk-never-left-anywhere')}\n${JSON.stringify(secret)}\n`);
  const left = {
    plain: `{"msg":"${secret}"}`,
    base64: Buffer.from(`x${secret}yz`).toString('base64'),
    base64url: Buffer.from(`xy${secret}z`).toString('base64url'),
    hex: Buffer.from(secret).toString('hex'),
    url: `?key=${encodeURIComponent(secret)}`,
    clean: 'sk-0f9e is only its beginning',
  };
  for (const [name, text] of Object.entries(left)) {
    mkdirSync(join(folder, 'left', name), { recursive: true });
    writeFileSync(join(folder, 'left', name, 'said'), Buffer.concat([Buffer.from([0, 255]), Buffer.from(text)]));
  }
  const { files, secrets, hits } = searchTrace(folder);
  assert.deepEqual([files, secrets], [6, 2]);
  const found = hits.map((hit) => /left\/(\w+)\/said holds "sk-0f9e8d\/7c6b\+5a"/.exec(hit)?.[1]);
  assert.deepEqual(found.sort(), ['base64', 'base64url', 'hex', 'plain', 'url']);
});

test('where nothing was left there is nothing to find', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-trace-test-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  assert.deepEqual(searchTrace(folder), { files: 0, bytes: 0, secrets: 0, hits: [] });
});
