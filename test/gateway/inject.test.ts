import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTemplate } from '../../src/config/template.ts';
import type { HeldCredential } from '../../src/gateway/decide.ts';
import { renderHeaders } from '../../src/gateway/inject.ts';

function held(token: string, ...names: string[]): HeldCredential {
  const value = parseTemplate('Bearer {token}');
  assert.ok(value.ok);
  return { credential: { headers: names.map((name) => ({ name, value: value.value })) }, secret: { fields: { token } } } as unknown as HeldCredential;
}

test('every credential of a request is put into its own headers', () => {
  assert.deepEqual(renderHeaders([held('a', 'X-One', 'X-Two'), held('b', 'X-Three')]), ['X-One', 'Bearer a', 'X-Two', 'Bearer a', 'X-Three', 'Bearer b']);
});

test('two values never go into one header, whatever the file’s check let through (A11)', () => {
  for (const [one, other] of [['Authorization', 'authorization'], ['X-Key', 'X-Key'], ['X_Key', 'x-key']] as const) {
    assert.throws(() => renderHeaders([held('a', one), held('b', 'X-Other', other)]), /two credentials are put into the header/);
  }
});
