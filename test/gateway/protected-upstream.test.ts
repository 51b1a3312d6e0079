import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Config, HttpUpstream } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { protectUpstream, questionName, secretSlot } from '../../src/gateway/protected-upstream.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';

const adapter = {} as Upstream;

function load(upstreams: string): Config {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  const path = join(folder, 'elicitgate.yaml');
  writeFileSync(path, `
version: 1
identity: { local: { user: ada } }
vault: { store: 'memory:', keys: ["${Buffer.alloc(32, 1).toString('base64')}"] }
credentials:
  own: { kind: apiKey, title: Own, fields: [{ name: token, label: Token }], inject: { headers: { X-Key: "{token}", X-Who: "me" } } }
  all: { kind: apiKey, title: All, shared: true, fields: [{ name: token, label: Token }], inject: { headers: { Authorization: "Bearer {token}" } } }
upstreams:
${upstreams}`);
  const config = loadConfig([path], {});
  rmSync(folder, { recursive: true });
  assert.ok(config.ok, config.ok ? '' : config.error.map(formatProblem).join('\n'));
  return config.value;
}

const protect = (config: Config, name: string) => protectUpstream(config, config.upstreams[name] as HttpUpstream, adapter);
const two = `
  one: { url: https://b.example.com/mcp, rules: [{ tools: [a], requires: [own] }, { tools: [b], requires: [all, own] }] }
  two: { url: https://a.example.com:8443/x/mcp, rules: [{ tools: [c], requires: [all] }] }
  three: { url: https://c.example.com/mcp }`;

test('a credential of an upstream is kept at that upstream and goes to its origin alone', () => {
  const { credentials, rules } = protect(load(two), 'one');
  const [own] = credentials;
  assert.deepEqual([own?.place, own?.destination], ['one', 'https://b.example.com']);
  assert.deepEqual(own?.headers.map(({ name, value }) => [name, value.render({ token: 'k' })]), [['X-Key', 'k'], ['X-Who', 'me']]);
  assert.deepEqual(rules.map(({ requires }) => requires.map(questionName)), [['own'], ['all', 'own']]);
});

test('rules that name a credential twice mean one and the same', () => {
  const { credentials, rules } = protect(load(two), 'one');
  assert.equal(credentials.length, 2);
  assert.equal(rules[0]?.requires[0], rules[1]?.requires[1]);
});

test('a choice names each of its credentials, and rules that offer the same choice mean one', () => {
  const config = load('  one: { url: https://b.example.com/mcp, rules: [{ tools: [a], requires: [{ anyOf: [own, all] }] }, { tools: [b], requires: [{ anyOf: [own, all] }, own] }] }');
  const { credentials, requirements, rules } = protect(config, 'one');
  assert.deepEqual(credentials.map(({ config: { name } }) => name), ['own', 'all']);
  assert.deepEqual(requirements.map(questionName), ['all|own', 'own']);
  assert.equal(rules[0]?.requires[0], rules[1]?.requires[0]);
  assert.equal(credentials[1]?.destination, 'https://b.example.com');
});

test('a shared credential is bound to every origin that requires it, and to no other', () => {
  const shared = protect(load(two), 'two').credentials[0];
  assert.deepEqual([shared?.place, shared?.destination], [undefined, 'https://a.example.com:8443 https://b.example.com']);
  assert.equal(protect(load(two), 'one').credentials[1]?.destination, shared?.destination);
  const alone = load('  two: { url: https://a.example.com:8443/x/mcp, rules: [{ tools: [c], requires: [all] }] }');
  assert.equal(protect(alone, 'two').credentials[0]?.destination, 'https://a.example.com:8443');
});

test('where a secret is kept is said by who calls and by the file, never by the client', () => {
  const config = load(two);
  const [own, all] = protect(config, 'one').credentials;
  assert.ok(own !== undefined && all !== undefined);
  const person = { issuer: 'https://id.example.com', subject: 'ada', name: 'Ada', clientId: 'x' };
  assert.deepEqual(secretSlot(person, own), { issuer: 'https://id.example.com', subject: 'ada', upstream: 'one', credential: 'own' });
  assert.deepEqual(secretSlot(person, all), { issuer: 'https://id.example.com', subject: 'ada', credential: 'all' });
});

test('an upstream without rules needs nothing', () => {
  const { credentials, rules } = protect(load(two), 'three');
  assert.deepEqual([credentials, rules], [[], []]);
});
