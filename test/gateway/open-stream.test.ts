/** The step that opens a server stream, for clients that are gone by then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../../src/gateway/call.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { openServerStream } from '../../src/gateway/server-stream.ts';

test('a client that hung up while the steps before waited opens no stream and takes none over (S7)', () => {
  // Whatever the step touched of these would throw.
  const call = { reply: { destroyed: true } } as unknown as Call;
  assert.equal(openServerStream({} as Gateway)(call), 'taken');
});
