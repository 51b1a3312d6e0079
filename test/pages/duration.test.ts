import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationIn } from '../../src/pages/duration.ts';

const second = 1_000;
const minute = 60_000;
const hour = 3_600_000;
const day = 86_400_000;

test('a length of time reads in the largest unit that says it exactly', () => {
  assert.equal(durationIn('en', 90 * day), '90 days');
  assert.equal(durationIn('en', 365 * day), '365 days');
  assert.equal(durationIn('en', 36 * hour), '36 hours');
  assert.equal(durationIn('en', 30 * minute), '30 minutes');
  assert.equal(durationIn('en', 40 * second), '40 seconds');
});

test('one of a unit is said in the singular', () => {
  assert.equal(durationIn('en', day), '1 day');
  assert.equal(durationIn('de', hour), '1 Stunde');
});

test('a length of time reads in the language of the page', () => {
  assert.equal(durationIn('de', 90 * day), '90 Tage');
  assert.equal(durationIn('de', 40 * second), '40 Sekunden');
});

test('a large odd number is rounded up in the next larger unit', () => {
  assert.equal(durationIn('en', 599 * second), '10 minutes');
  assert.equal(durationIn('en', 100 * day + second), '101 days');
});

test('less than a second is one second, so that nobody waits "0 seconds"', () => {
  assert.equal(durationIn('en', 1), '1 second');
  assert.equal(durationIn('en', 0), '1 second');
});
