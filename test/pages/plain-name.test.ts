import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLine, shortName } from '../../src/pages/plain-name.ts';

test('an ordinary name stays as it is', () => {
  assert.equal(shortName('Claude Code'), 'Claude Code');
  assert.equal(shortName('Ünïcode 密钥'), 'Ünïcode 密钥');
});

test('no name, an empty one and one of invisible characters are all no name', () => {
  assert.equal(shortName(undefined), undefined);
  assert.equal(shortName('  \n '), undefined);
  assert.equal(shortName('\u200b\u202e\u0000'), undefined);
});

test('a name of 60 characters stays whole, a longer one is cut with a mark', () => {
  assert.equal(shortName('a'.repeat(60)), 'a'.repeat(60));
  assert.equal(shortName('a'.repeat(61)), `${'a'.repeat(59)}…`);
});

test('a cut never splits a character of two code units', () => {
  assert.equal(shortName('🔑'.repeat(61)), `${'🔑'.repeat(59)}…`);
});

test('line breaks, control characters and changes of direction are taken out', () => {
  assert.equal(plainLine('mia\r\n\tjones\u202e\u2066\u0007'), 'mia jones');
  assert.equal(plainLine('lone \ud800surrogate'), 'lone surrogate');
});

test('an account is never cut, because two accounts could then look alike', () => {
  assert.equal(plainLine('x'.repeat(300)), 'x'.repeat(300));
});
