import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textIn } from '../../src/config/text.ts';

const key = { en: 'Key', de: 'Schlüssel', 'zh-CN': '密钥' };

test('A text is taken in exactly the language that is asked for', () => {
  assert.equal(textIn(key, 'zh-CN'), '密钥');
  assert.equal(textIn(key, 'de'), 'Schlüssel');
});

test('A regional language falls back to its base language', () => {
  assert.equal(textIn(key, 'de-AT'), 'Schlüssel');
});

test('A text without a language serves every language', () => {
  assert.equal(textIn({ '': 'GitHub' }, 'th'), 'GitHub');
});

test('Without the language and its base, English is taken, and without English the first', () => {
  assert.equal(textIn(key, 'th'), 'Key');
  assert.equal(textIn({ fr: 'Clé', it: 'Chiave' }, 'th'), 'Clé');
});

test('A language that is named like a method of objects finds nothing of its own', () => {
  assert.equal(textIn(key, 'constructor'), 'Key');
});
