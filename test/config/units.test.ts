import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDuration, parseRate, parseSize } from '../../src/config/units.ts';

const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

test('Durations are read in each of their units', () => {
  for (const [text, ms] of [['500ms', 500], ['30s', 30_000], ['15m', 900_000], ['12h', 43_200_000], ['90d', 7_776_000_000], ['0s', 0]] as const) {
    assert.deepEqual(parseDuration(text), { ok: true, value: ms });
  }
});

test('What is not a whole number with a known unit is not a duration', () => {
  for (const text of ['', '30', 's', '1.5h', '-1s', '1 s', '1w', '1M', '1S', '1h30m', '1e3s', '١s', '9999999999999s', ' 1s', '1s\n']) {
    assert.equal(parseDuration(text).ok, false, JSON.stringify(text));
  }
});

test('Every whole number of a unit is that many milliseconds', () => {
  const units = fc.constantFrom(...(Object.keys(factor) as (keyof typeof factor)[]));
  fc.assert(
    fc.property(fc.nat({ max: 10_000_000 }), units, (count, unit) => {
      assert.deepEqual(parseDuration(`${count}${unit}`), { ok: true, value: count * factor[unit] });
    }),
    { numRuns: 50 },
  );
});

test('No text makes a duration that is not a safe whole number of milliseconds', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9]{1,14}(ms|s|m|h|d)?$/), (text) => {
      const result = parseDuration(text);
      assert.ok(!result.ok || Number.isSafeInteger(result.value));
    }),
    { numRuns: 100 },
  );
});

test('Sizes are powers of 1024 with their proper names', () => {
  for (const [text, bytes] of [['1B', 1], ['512KiB', 524_288], ['4MiB', 4_194_304], ['2GiB', 2_147_483_648]] as const) {
    assert.deepEqual(parseSize(text), { ok: true, value: bytes });
  }
  for (const text of ['4', '4MB', '4M', '4mib', '1.5MiB', '-1B']) assert.equal(parseSize(text).ok, false, text);
});

test('A rate is a count in a duration, and neither is nothing', () => {
  assert.deepEqual(parseRate('30/10m'), { ok: true, value: { count: 30, perMs: 600_000 } });
  for (const text of ['30', '30/', '/10m', '0/10m', '30/0s', '30/10', '30/10m/2', '3.5/1m', '-3/1m']) {
    assert.equal(parseRate(text).ok, false, text);
  }
});
