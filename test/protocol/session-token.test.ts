import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayName } from '../../src/protocol/session-token.ts';

test('what a client calls itself is cut to 64 characters, without controls and changes of direction', () => {
  const named = (name: unknown) => displayName({ name }, 'name');
  assert.equal(named('Editor'), 'Editor');
  assert.equal(named(' Ed\u0000i\r\ntor\u202e \u2066x\u2069 '), 'Editor x');
  assert.equal(named('\u{1f600}'.repeat(100)), '\u{1f600}'.repeat(64));
  assert.equal(named('<b>'), '<b>', 'pages escape it');
});

test('a client without a name that can be shown has none', () => {
  for (const info of [undefined, null, 'Editor', {}, { name: 1 }, { name: '' }, { name: ' \u200e\n' }, ['Editor']]) assert.equal(displayName(info, 'name'), undefined);
  assert.equal(displayName({ name: 'a', title: 'A' }, 'title'), 'A');
});
