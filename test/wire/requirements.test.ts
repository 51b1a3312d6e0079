/** Finds requirements without a test. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { requirements } from './requirements.ts';

test('every requirement is shown by a test that exists, and has an id of its own', () => {
  const unshown = requirements.filter(({ file, title }) => !readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').includes(`\ntest('${title}`));
  assert.deepEqual(unshown.map(({ id }) => id), []);
  assert.equal(new Set(requirements.map(({ id }) => id)).size, requirements.length);
});
