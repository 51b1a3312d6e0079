import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseGlobs, type Globs } from '../../src/config/globs.ts';

function globs(...source: string[]): Globs {
  const result = parseGlobs(source);
  assert.ok(result.ok, result.ok ? '' : result.error);
  return result.value;
}

/** Plain recursion over characters, slow and obviously right. */
function isLike(glob: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return name.length === 0;
  if (first === '*') return isLike(rest, name) || (name.length > 0 && isLike(glob, name.slice(1)));
  return name.length > 0 && (first === '?' || first === name[0]) && isLike(rest, name.slice(1));
}

test('A star is any run of characters, also none', () => {
  const list = globs('create_*');
  assert.equal(list.matches('create_issue'), true);
  assert.equal(list.matches('create_'), true);
  assert.equal(list.matches('recreate_issue'), false);
});

test('A question mark is one character, also one beyond the basic plane', () => {
  assert.equal(globs('v?').matches('v1'), true);
  assert.equal(globs('v?').matches('v😀'), true);
  assert.equal(globs('v?').matches('v'), false);
  assert.equal(globs('v?').matches('v12'), false);
});

test('Characters that mean something in other pattern languages mean themselves', () => {
  assert.equal(globs('a.[b]{c,d}\\*').matches('a.[b]{c,d}\\x'), true);
  assert.equal(globs('a.c*').matches('abc'), false);
});

test('A leading exclamation mark takes names out again, and a later entry puts one back', () => {
  const list = globs('*', '!admin_*', 'admin_ping');
  assert.equal(list.matches('get_me'), true);
  assert.equal(list.matches('admin_delete'), false);
  assert.equal(list.matches('admin_ping'), true);
});

test('A list of plain names offers them as a set', () => {
  const list = globs('get_me', 'list_issues');
  assert.deepEqual(list.exact, new Set(['get_me', 'list_issues']));
  assert.equal(list.matches('get_me'), true);
  assert.equal(list.matches('GET_ME'), false);
  assert.equal(globs('get_me', 'x*').exact, undefined);
  assert.equal(globs('get_me', '!get_me').exact, undefined);
});

test('A list that is empty, has an empty name or only takes names out is refused', () => {
  for (const source of [[], [''], ['*', '!'], ['!admin_*', '*']]) assert.equal(parseGlobs(source).ok, false, source.join());
});

test('Matching agrees with plain recursion', () => {
  const characters = fc.constantFrom('a', 'b', '*', '?', '😀');
  const glob = fc.array(characters, { minLength: 1, maxLength: 8 });
  const name = fc.array(fc.constantFrom('a', 'b', '😀'), { maxLength: 8 });
  fc.assert(
    fc.property(glob, name, (some, characters) => {
      assert.equal(globs(some.join('')).matches(characters.join('')), isLike(some, characters));
    }),
    { numRuns: 300 },
  );
});

test('A hostile name of a hundred thousand characters costs no more than its length times the glob', () => {
  const list = globs('*a*a*a*a*a*a*a*a*b');
  const started = performance.now();
  assert.equal(list.matches('a'.repeat(100_000)), false);
  assert.ok(performance.now() - started < 2000);
});
