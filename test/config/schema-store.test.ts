import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aKey, configOf, fileOf, problemsOf } from './load-text.ts';

const vault = (store: string) => fileOf({ vault: `{ store: ${store}, keys: ["${aKey}"] }` });

test('An address alone, or in a map with what else a database needs', (context) => {
  const storeOf = (store: string) => configOf(context, vault(store)).vault.store;
  assert.deepEqual(storeOf('"postgres://h/d?sslmode=verify-full"'), { kind: 'postgres', url: 'postgres://h/d?sslmode=verify-full' });
  assert.deepEqual(storeOf('{ url: "redis://h:1/2", user: u, password: "p@:/", pool: 3, prefix: "x:", waitAof: true }'), { kind: 'redis', url: 'redis://h:1/2', user: 'u', password: 'p@:/', pool: 3, prefix: 'x:', waitAof: true });
  assert.deepEqual(storeOf('{ url: "postgresql://h/d", prefix: "gate.eg_" }'), { kind: 'postgres', url: 'postgresql://h/d', prefix: 'gate.eg_' });
  assert.deepEqual(storeOf('{ url: "memory:" }'), { kind: 'memory' });
});

test('What does not fit together is said, and no password with it', (context) => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['"mysql://h"', /memory:, sqlite:PATH, postgres:\/\/… or redis:\/\/…/],
    ['"postgres://u:hunter2@h/d?sslmode=prefer"', /sslmode=disable, require, verify-ca or verify-full/],
    ['"postgres://u:hunter2/x@h:port/d"', /percent-encoded, or under store\.password/],
    ['{ url: "postgres://h/d", waitAof: true }', /waitAof only with redis/],
    ['{ url: "postgres://h/d", prefix: \'x"; drop\' }', /a prefix of letters, digits and _/],
    ['{ url: "redis://h", ca: elicitgate.yaml }', /a rediss:\/\/ address with ca/],
    ['{ url: "memory:", pool: 2 }', /memory takes nothing but its url/],
    ['{ url: "redis://h", pool: 0 }', /pool/],
  ];
  for (const [store, expected] of wrong) {
    const problems = problemsOf(context, vault(store)).join('\n');
    assert.match(problems, expected, store);
    assert.equal(problems.includes('hunter2'), false, store);
  }
});
