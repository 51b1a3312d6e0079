/** Bytes that are held until they are whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HeldBytes } from '../../src/protocol/held-bytes.ts';

test('what was pushed comes back in order, however it was cut, and only once', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      const held = new HeldBytes();
      for (let round = 0; round < 2; round += 1) {
        for (const piece of pieces) held.push(Buffer.from(piece));
        const whole = Buffer.concat(pieces);
        assert.equal(held.length, whole.length);
        assert.deepEqual(held.take(), whole);
        assert.equal(held.length, 0);
      }
    }),
  );
});

test('large and small pieces in any order come back as they were', () => {
  const sizes = fc.constantFrom(0, 1, 700, 16_383, 16_384, 70_000);
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 12 }), (lengths) => {
      const held = new HeldBytes();
      const pieces = lengths.map((length, at) => Buffer.alloc(length, at + 1));
      for (const piece of pieces) held.push(piece);
      assert.ok(held.take().equals(Buffer.concat(pieces)));
    }),
  );
});

test('a piece is never written into, and what was taken does not change with what comes after', () => {
  const held = new HeldBytes();
  const first = Buffer.from('one');
  held.push(first);
  held.push(Buffer.from('two'));
  const taken = held.take();
  held.push(Buffer.from('THREE'));
  held.push(Buffer.from('four'));
  assert.equal(first.toString(), 'one');
  assert.equal(taken.toString(), 'onetwo');
});

test('a hundred thousand pieces of one byte do not keep the reads alive that they came with (A14)', () => {
  const held = new HeldBytes();
  const before = process.memoryUsage().arrayBuffers;
  // Each lies in a read of 16 KiB: kept by reference they would be 1.6 GB.
  for (let at = 0; at < 100_000; at += 1) held.push(Buffer.allocUnsafeSlow(16 * 1024).fill(0x61, 0, 1).subarray(0, 1));
  assert.equal(held.length, 100_000);
  assert.ok(process.memoryUsage().arrayBuffers - before < 512 * 1024 * 1024);
});
