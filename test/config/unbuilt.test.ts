import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unbuilt, unbuiltRows } from '../../src/config/unbuilt.ts';
import { configOf, fileOf } from './load-text.ts';

/** Each file uses one part that is not built, which is told at this path. */
const parts: readonly (readonly [path: string, sections: Readonly<Record<string, string>>])[] = [
  ['server.advertise', { server: '{ advertise: "http://10.0.0.1:8080" }' }],
  ['telemetry', { telemetry: '{ otlp: "http://c:4318" }' }],
  ['payments', { payments: '{ stripe: { secretKey: a, webhookSecret: b } }' }],
  ['credentials.k.kind', { credentials: '{ k: { kind: payment, provider: webhook, price: { amount: 1, currency: usd }, grants: { calls: 1 } } }' }],
];

test('A file that uses only what is built has nothing unbuilt', (context) => {
  const file = fileOf({
    server: '{ listen: "127.0.0.1:0", trustedProxies: [10.0.0.0/8], drain: 1s }',
    elicitation: '{ delivery: hold, fallback: refuse, holdFor: 1s, expiresAfter: 1m, clients: [{ name: a, treatAs: url }] }',
    pages: '{ name: N, locales: [en, de, zh-CN, th] }',
    limits: '{ perUser: { calls: 1/1m } }',
    audit: '{ to: [stdout], required: true }',
    outbound: '{ proxy: "", allow: [10.0.0.0/8] }',
  });
  assert.deepEqual(unbuilt(configOf(context, file)), []);
});

test('Every part that is not built is told by its path, with what can be done', (context) => {
  for (const [path, sections] of parts) {
    const found = unbuilt(configOf(context, fileOf(sections)));
    const part = found.find((one) => one.path === path);
    assert.ok(part !== undefined, JSON.stringify(sections));
    assert.match(part.message, / is understood, but this version cannot run it yet; (use|leave) /);
  }
});

test('Every row of the table is shown by an example above', () => {
  const shown = new Set(parts.map(([path]) => path));
  const pathOf = (where: string) => where.replace('credentials.*', 'credentials.k').replace('upstreams.*', 'upstreams.u');
  const rows = unbuiltRows.map(({ where }) => pathOf(where).replace('.inject.*', '.inject.k').replaceAll('.*', '[0]'));
  assert.deepEqual(rows.filter((path) => !shown.has(path)), []);
});

test('The message says what is meant and what to use instead', (context) => {
  const [first] = unbuilt(configOf(context, fileOf({ credentials: '{ k: { kind: payment, provider: webhook, price: { amount: 1, currency: usd }, grants: { calls: 1 } } }' })));
  assert.equal(first?.message, 'credentials.k.kind: payment is understood, but this version cannot run it yet; use apiKey or oauth');
});
