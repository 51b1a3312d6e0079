import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, formatPath, formatProblem, nearest } from '../../src/config/problem.ts';
import { aKey, fileOf, problemsOf } from './load-text.ts';

const canary = 'canary-5d0f2a';

test('A problem is printed with file, line, column, key, what was found and what would be right', () => {
  const problem = { file: 'a.yaml', line: 3, column: 7, path: 'server.drain', found: '30', right: 'a duration' };
  assert.equal(formatProblem(problem), 'a.yaml:3:7 server.drain: 30; a duration');
  assert.equal(formatProblem({ ...problem, path: '' }), 'a.yaml:3:7 (file): 30; a duration');
  assert.equal(formatPath(['upstreams', 'u', 'rules', 0, 'tools']), 'upstreams.u.rules[0].tools');
});

test('Values are described so that one recognises them, long ones cut', () => {
  assert.equal(describe('8MB', false), '"8MB"');
  assert.equal(describe(8, false), '8');
  assert.equal(describe(null, false), 'an empty value');
  assert.equal(describe('', false), 'an empty text');
  assert.equal(describe([1], false), 'a list');
  assert.equal(describe({}, false), 'an empty map');
  assert.equal(describe('x'.repeat(500), false).length, 83);
});

test('A secret, and what a URL carries beside its host, is not described', () => {
  assert.equal(describe(canary, true), '[set]');
  assert.equal(describe(`https://user:${canary}@host/path`, false), '"https://[set]@host/path"');
  assert.equal(describe(`ftp://host/path?key=${canary}`, false), '"ftp://host/path?[set]"');
});

test('The nearest key is meant, also with another case or other separators', () => {
  assert.equal(nearest('listn', ['listen', 'drain']), 'listen');
  assert.equal(nearest('public_url', ['publicUrl']), 'publicUrl');
  assert.equal(nearest('drian', ['drain']), 'drain');
  assert.equal(nearest('port', ['listen', 'drain']), undefined);
  assert.equal(nearest('d', ['c']), undefined);
});

test('No value that came from outside is shown, wherever it is wrong', (context) => {
  const files = [
    fileOf({ server: '{ listen: "${X}", publicUrl: "${X}", maxBody: "${X}", trustedProxies: ["${X}"], admin: "${X}" }' }),
    fileOf({ vault: '{ store: "${X}", keys: ["${X}", "${X}"], namespace: "${X}" }' }),
    fileOf({ log: '{ level: "${X}" }', pages: '{ accent: "${X}", logo: "${X}", support: "${X}", locales: ["${X}"] }' }),
    fileOf({ upstreams: '{ u: { url: "${X}", path: "${X}", timeout: "${X}", forwardHeaders: ["${X} "], rules: [{ tools: ["x"], requires: ["${X}", "${X}-"] }] } }' }),
    fileOf({ credentials: '{ k: { kind: apiKey, fields: [{ name: "${X} " }], help: "${X}" } }' }),
    fileOf({ credentials: '{ k: { kind: apiKey, fields: [{ name: t }], inject: { headers: { A: "{${Y}}" } } } }' }),
    fileOf({ credentials: '{ k: { kind: "${X}", title: "${X}" } }', version: '"${X}"', outbound: '{ proxy: "${X}" }' }),
    fileOf({ upstreams: '{ u: { url: "http://a", forwardHeaders: ["${X}", "${Z}"], rules: [{ tools: [x], requires: ["${X}", { anyOf: ["${X}"] }, { credential: "${X}", scopes: [a] }] }] } }' }),
    fileOf({ credentials: '{ k: { kind: apiKey, fields: [{ name: "${X}" }, { name: "${X}" }], inject: { headers: { "Canary": "a" } } } }' }),
    fileOf({ upstreams: '{ u: { url: "http://a", path: "/${X}" }, v: { url: "http://a", path: "/${X}" } }' }),
  ];
  for (const file of files) {
    const problems = problemsOf(context, file, { Z: 'X-Key', X: canary, Y: 'canary' });
    assert.ok(problems.length > 0, file);
    assert.ok(!problems.join('\n').includes('canary'), problems.join('\n'));
  }
});

test('No secret that is written into the file is shown, not even in the wrong shape', (context) => {
  const files = [
    fileOf({ vault: `{ store: "memory:", keys: ${canary} }` }),
    fileOf({ vault: `{ store: "memory:", keys: [${canary}] }` }),
    fileOf({ vault: `{ store: "postgress://me:${canary}@host/db", keys: ["${aKey}"] }` }),
    fileOf({ vault: canary }),
    fileOf({ identity: `{ oauth: { issuer: "https://a.example", introspection: { clientId: a, clientSecret: [${canary}] }, login: ${canary} } }` }),
    fileOf({ identity: `{ proxyHeaders: { user: A, issuer: b, secretHeader: "a b", secret: [${canary}] } }` }),
    fileOf({ payments: `{ stripe: ${canary} }` }),
    fileOf({ payments: `{ stripe: { secretKey: [${canary}], webhookSecret: ["${canary}"] } }` }),
    fileOf({ upstreams: `{ u: { url: "http://a", headers: { Authorization: "Bearer ${canary}\\n" } } }` }),
    fileOf({ upstreams: `{ u: { url: "http://a", headers: "Authorization: Bearer ${canary}" } }` }),
    fileOf({ upstreams: `{ u: { transport: stdio, command: x, env: ${canary}, discoveryEnv: { A: [${canary}] } } }` }),
    fileOf({ upstreams: `{ u: { url: "http://user:${canary}@a/mcp" } }` }),
    fileOf({ upstreams: `{ u: { url: "ftp://a/mcp?key=${canary}" } }` }),
    fileOf({ credentials: `{ k: { kind: oauth, clientSecret: { a: ${canary} }, discover: ups } }` }),
    fileOf({ credentials: `{ k: { kind: apiKey, fields: [{ name: t }], inject: { headers: { A: "Bearer ${canary} {" }, env: ${canary} } } }` }),
    fileOf({ credentials: `{ k: { kind: apiKey, fields: [{ name: t }], inject: ${canary}, token: ${canary} } }` }),
    fileOf({ outbound: `{ proxy: "socks://me:${canary}@host" }` }),
  ];
  for (const file of files) {
    const problems = problemsOf(context, file);
    assert.ok(problems.length > 0, file);
    assert.ok(!problems.join('\n').includes(canary), problems.join('\n'));
  }
});
