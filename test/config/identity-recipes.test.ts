/** The files that docs/identity.md shows are right files. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aKey, fileOf, problemsOf } from './load-text.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/identity.md'), 'utf8');
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block);

test('every file of docs/identity.md can be loaded as it stands', (context) => {
  assert.equal(blocks.length, 8);
  for (const block of blocks) {
    assert.deepEqual(problemsOf(context, fileOf({ identity: undefined, vault: `{ keys: ["${aKey}"] }` }) + block, { LOGIN_SECRET: 'a', PROXY_SECRET: 'b' }), [], block);
  }
});

test('every part of docs/identity.md that names a maker says whether it was tried', () => {
  const recipes = [...page.matchAll(/^### (.*)$/gm)].map(([, title = '']) => title);
  assert.deepEqual(recipes.filter((title) => !/\((not )?tried/.test(title)), []);
  assert.equal(recipes.length, 6);
});
