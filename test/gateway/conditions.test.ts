import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePattern } from '../../src/config/pattern.ts';
import { applies, unjudgeable } from '../../src/gateway/conditions.ts';

type Written = Parameters<typeof applies>[0];
type Conditions = NonNullable<NonNullable<Written['when']>['arguments']>;

/** Whether a rule with these conditions on its arguments applies: under `when`, and under `unless`. */
function under(conditions: Conditions, args: unknown): readonly [boolean, boolean] {
  const facts = { arguments: args, claims: {} };
  return [applies({ when: { arguments: conditions } }, facts), applies({ unless: { arguments: conditions } }, facts)];
}

const certain = { holds: [true, false], fails: [false, true], unsure: [true, true] } as const;

function pattern(source: string) {
  const parsed = parsePattern(source);
  assert.ok(parsed.ok);
  return parsed.value;
}

test('a rule without conditions applies', () => {
  assert.ok(applies({}, { arguments: undefined, claims: {} }));
});

test('a value, or one of a list of values', () => {
  const depth: Conditions = { depth: ['deep', 'deeper'] };
  assert.deepEqual(under(depth, { depth: 'deep' }), certain.holds);
  assert.deepEqual(under(depth, { depth: 'deeper' }), certain.holds);
  for (const args of [{ depth: 'shallow' }, { depth: null }, {}, undefined, null, { other: 'deep' }]) assert.deepEqual(under(depth, args), certain.fails, JSON.stringify(args));
  assert.deepEqual(under({ n: 1 }, { n: 1 }), certain.holds);
  assert.deepEqual(under({ n: 1 }, { n: 2 }), certain.fails);
  assert.deepEqual(under({ on: true }, { on: true }), certain.holds);
  assert.deepEqual(under({ on: true }, { on: false }), certain.fails);
  assert.deepEqual(under({ on: null }, { on: null }), certain.holds);
});

test('a value that a server may read as the one meant never slips past', () => {
  const depth: Conditions = { depth: 'deep' };
  const spellings: unknown[] = ['Deep', ' deep', 'deep\n', 'de\u200bep', '\uff44eep', ['deep'], ['shallow', 'deep'], [['deep']], { value: 'deep' }, 1, true];
  for (const value of spellings) assert.deepEqual(under(depth, { depth: value }), certain.unsure, JSON.stringify(value));
  assert.deepEqual(under(depth, { depth: ['shallow'] }), certain.fails);
  assert.deepEqual(under(depth, { depth: [] }), certain.fails);
  for (const value of ['1', '01', true, [1]]) assert.deepEqual(under({ n: 1 }, { n: value }), certain.unsure, JSON.stringify(value));
  for (const value of ['true', 1, 'yes', '']) assert.deepEqual(under({ on: true }, { on: value }), certain.unsure, JSON.stringify(value));
  assert.deepEqual(under({ n: 9_007_199_254_740_992 }, JSON.parse('{"n":9007199254740993}')), certain.unsure);
});

test('a key that a server may read as the one meant never slips past, beside the right one either', () => {
  const depth: Conditions = { search_depth: 'deep' };
  for (const key of ['Search_Depth', 'searchDepth', 'search-depth', 'search_depth ', 'search\u200b_depth', 'search_depth\u0000x', '\uff53earch_depth']) {
    assert.deepEqual(under(depth, { [key]: 'deep' }), certain.unsure, JSON.stringify(key));
    assert.deepEqual(under(depth, { search_depth: 'shallow', [key]: 'deep' }), certain.unsure, JSON.stringify(key));
  }
});

test('arguments that are no object, or a text where an object is meant, cannot be judged', () => {
  for (const args of ['{"depth":"deep"}', [{ depth: 'deep' }], 5, true]) assert.deepEqual(under({ depth: 'deep' }, args), certain.unsure, JSON.stringify(args));
  assert.deepEqual(under({ 'options.depth': 'deep' }, { options: '{"depth":"deep"}' }), certain.unsure);
  assert.deepEqual(under({ 'options.depth': 'deep' }, { options: [{ depth: 'deep' }] }), certain.unsure);
  assert.deepEqual(under({ depth: 'deep' }, unjudgeable), certain.unsure);
});

test('paths are dotted keys, or JSON pointers when they begin with /', () => {
  assert.deepEqual(under({ 'a.b': 1 }, { a: { b: 1 } }), certain.holds);
  assert.deepEqual(under({ 'a.0.b': 1 }, { a: [{ b: 1 }] }), certain.holds);
  assert.deepEqual(under({ 'a.1.b': 1 }, { a: [{ b: 1 }] }), certain.fails);
  assert.deepEqual(under({ '/a.b/c~1d/e~0f': 1 }, { 'a.b': { 'c/d': { 'e~f': 1 } } }), certain.holds);
  for (const path of ['constructor', 'toString', 'a.length']) assert.notDeepEqual(under({ [path]: { exists: true } }, { a: {} }), certain.holds, path);
});

test('bounds are for numbers; all of a comparison must hold', () => {
  const between: Conditions = { n: { gt: 1, lte: 10 } };
  for (const n of [1.5, 10]) assert.deepEqual(under(between, { n }), certain.holds, String(n));
  for (const n of [1, 11, null, undefined]) assert.deepEqual(under(between, { n }), certain.fails, String(n));
  for (const n of ['5', '50', 'x', true, {}, 1e300]) assert.equal(under({ n: { gte: 1, lt: 10 } }, { n })[0], true, JSON.stringify(n));
  assert.deepEqual(under({ n: { gte: 5, lt: 6 } }, { n: 5 }), certain.holds);
  assert.deepEqual(under({ n: { gt: 1 } }, { n: [5] }), certain.unsure);
});

test('a pattern is found in a text, hidden characters or not', () => {
  const path: Conditions = { path: { matches: pattern('^/secret') } };
  assert.deepEqual(under(path, { path: '/secret/x' }), certain.holds);
  assert.deepEqual(under(path, { path: '/public' }), certain.fails);
  assert.deepEqual(under(path, {}), certain.fails);
  for (const value of [' /secret', '\u200b/secret', 5, ['/secret'], {}]) assert.deepEqual(under(path, { path: value }), certain.unsure, JSON.stringify(value));
});

test('`exists` asks whether there is a value; null is neither', () => {
  assert.deepEqual(under({ a: { exists: true } }, { a: [] }), certain.holds);
  assert.deepEqual(under({ a: { exists: true } }, {}), certain.fails);
  assert.deepEqual(under({ a: { exists: false } }, {}), certain.holds);
  assert.deepEqual(under({ a: { exists: false } }, { a: 1 }), certain.fails);
  assert.deepEqual(under({ a: { exists: true } }, { a: null }), certain.unsure);
  assert.deepEqual(under({ a: { exists: false } }, { A: 1 }), certain.unsure);
});

test('all conditions of `when` must hold, and one that certainly fails decides', () => {
  const two: Conditions = { a: 1, b: 2 };
  assert.deepEqual(under(two, { a: 1, b: 2 }), certain.holds);
  assert.deepEqual(under(two, { a: 1, b: 3 }), certain.fails);
  assert.deepEqual(under(two, { a: '1', b: 3 }), certain.fails);
  assert.deepEqual(under(two, { a: '1', b: 2 }), certain.unsure);
});

test('claims are the caller’s: any value of a list counts, and what cannot be judged excuses nobody', () => {
  const unless = (claims: unknown) => applies({ unless: { claims: { plan: ['pro'] } } }, { arguments: {}, claims });
  assert.equal(unless({ plan: 'pro' }), false);
  assert.equal(unless({ plan: ['basic', 'pro'] }), false);
  for (const claims of [{}, { plan: 'basic' }, { plan: 'Pro' }, { plan: { name: 'pro' } }, { plan: [] }]) assert.equal(unless(claims), true, JSON.stringify(claims));
  assert.equal(applies({ unless: { claims: { '/https:~1~1example.com~1plan': 'pro' } } }, { arguments: {}, claims: { 'https://example.com/plan': 'pro' } }), false);
  assert.equal(applies({ when: { arguments: { a: 1 }, claims: { plan: 'basic' } } }, { arguments: { a: 1 }, claims: { plan: 'pro' } }), false);
});
