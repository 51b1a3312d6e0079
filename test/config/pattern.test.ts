import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePattern, type Pattern } from '../../src/config/pattern.ts';

function pattern(source: string): Pattern {
  const result = parsePattern(source);
  assert.ok(result.ok, source);
  return result.value;
}

test('A pattern is found anywhere in a text unless it is anchored', () => {
  assert.equal(pattern('ghp_').test('my ghp_abc'), true);
  assert.equal(pattern('^ghp_').test('my ghp_abc'), false);
  assert.equal(pattern('^(ghp_|github_pat_)\\w+$').test('ghp_abc'), true);
  assert.equal(pattern('^(ghp_|github_pat_)\\w+$').test('ghp_abc def'), false);
});

test('A leading (?i) ignores case', () => {
  assert.equal(pattern('(?i)bad credentials').test('Bad Credentials'), true);
  assert.equal(pattern('bad credentials').test('Bad Credentials'), false);
});

test('Look-around, back-references and broken syntax are refused', () => {
  for (const source of ['(?=a)', '(?<!a)b', '(a)\\1', '(', '[a', 'a{2,1}']) assert.equal(parsePattern(source).ok, false, source);
});

test('A text that makes backtracking engines hang is matched in linear time', () => {
  const started = performance.now();
  assert.equal(pattern('^(a+)+$').test(`${'a'.repeat(50_000)}!`), false);
  assert.ok(performance.now() - started < 2000);
});
