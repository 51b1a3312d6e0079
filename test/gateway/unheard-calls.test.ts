import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUnheardCalls } from '../../src/gateway/unheard-calls.ts';

test('a person leaves at most a hundred calls, the oldest is broken off first, and nobody else’s is (B17)', () => {
  const calls = createUnheardCalls();
  const broken: number[] = [];
  calls.add('ben', () => broken.push(-1));
  const over = Array.from({ length: 102 }, (_, nth) => calls.add('ada', () => broken.push(nth)));
  assert.deepEqual(broken, [0, 1]);
  over[0]?.();
  over[50]?.();
  calls.add('ada', () => undefined);
  assert.deepEqual(broken, [0, 1], 'what is over makes room');
  calls.add('ada', () => undefined);
  assert.deepEqual(broken, [0, 1, 2]);
});
