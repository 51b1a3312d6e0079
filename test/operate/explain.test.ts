import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { explain, formatExplanation, type ExplainOptions } from '../../src/operate/explain.ts';

const file = `
version: 1
server: { publicUrl: "http://localhost:8080" }
identity: { local: { user: ada } }
vault: { store: "sqlite:./secrets.db", keys: ["\${KEY}"] }
credentials:
  github: { kind: apiKey, title: GitHub, fields: [{ name: token, label: Token }], inject: { headers: { Authorization: "Bearer {token}" } } }
  jira: { kind: apiKey, title: Jira, fields: [{ name: token, label: Token }], inject: { headers: { X-Jira: "{token}" } } }
upstreams:
  main:
    url: http://127.0.0.1:3000/mcp
    fallback: refuse
    rules:
      - { tools: ["create_*"], requires: [github] }
      - { tools: [search], when: { arguments: { depth: deep } }, unless: { claims: { plan: pro } }, requires: [{ anyOf: [github, jira] }] }
      - { resources: ["docs://*"], when: { arguments: { depth: deep } }, requires: [jira] }
  more:
    url: http://127.0.0.1:3001/mcp
    attach: always
    rules: [{ tools: [a], requires: [github] }]
`;

const folder = mkdtempSync(join(tmpdir(), 'elicitgate-explain-'));
writeFileSync(join(folder, 'f.yaml'), file);
const loaded = loadConfig([join(folder, 'f.yaml')], { KEY: Buffer.alloc(32, 1).toString('base64') });
rmSync(folder, { recursive: true });
assert.ok(loaded.ok, loaded.ok ? '' : loaded.error.map(formatProblem).join('\n'));
const config = loaded.value;

function told(options: ExplainOptions): string {
  const explained = explain(config, { upstream: 'main', ...options });
  return explained.ok ? formatExplanation(explained.value) : explained.error;
}

function outcome(options: ExplainOptions) {
  const explained = explain(config, { upstream: 'main', ...options });
  assert.ok(explained.ok);
  return [explained.value.outcome, explained.value.requires];
}

describe('explain', () => {
  test('names every rule, whether it applies, and what happens then', () => {
    assert.equal(told({ tool: 'search', arguments: '{"depth":"deep"}' }), `The tool search of main:
  upstreams.main.rules[0]: another name (create_*: asks for github)
  upstreams.main.rules[1]: applies (search when argument depth is "deep" unless claim plan is "pro": asks for any of github, jira)
  upstreams.main.rules[2]: another name (resources docs://* when argument depth is "deep": asks for jira)

It needs any of github, jira. Of a person who has given that, it passes with it; another one is asked on a page.
A client that cannot be given a link is refused.
`);
  });
  test('judges arguments and claims as a call is judged', () => {
    assert.deepEqual(outcome({ tool: 'search' }), ['pass', []]);
    assert.deepEqual(outcome({ tool: 'search', arguments: '{"depth":"DEEP "}' }), ['ask', ['any of github, jira']]);
    assert.deepEqual(outcome({ tool: 'search', arguments: '{"depth":"deep"}', claims: '{"plan":"pro"}' }), ['pass', []]);
    assert.deepEqual(outcome({ resource: 'docs://x' }), ['ask', ['jira']]);
    assert.deepEqual(outcome({ prompt: 'create_x' }), ['pass', []]);
  });
  test('says what goes along unasked with attach: always', () => {
    assert.match(told({ upstream: 'more', tool: 'free' }), /It passes as it is: no rule asks for anything\.\nWhat the person has given of github goes along, too \(attach: always\)\.\n$/);
  });
  test('says in one sentence what is wrong with the command line', () => {
    assert.equal(told({ upstream: 'nope', tool: 'a' }), 'The file has no upstream nope; it has main, more.');
    assert.equal(told({ upstream: '__proto__', tool: 'a' }), 'The file has no upstream __proto__; it has main, more.');
    assert.equal(told({}), 'Say what is called: one of --tool NAME, --resource URI and --prompt NAME.');
    assert.equal(told({ tool: 'a', prompt: 'b' }), 'Say what is called: one of --tool NAME, --resource URI and --prompt NAME.');
    assert.equal(told({ tool: 'a', arguments: '{' }), `--arguments is no JSON; a JSON object is meant, e.g. '{"depth": "deep"}'.`);
    assert.equal(told({ tool: 'a', claims: '[]' }), `--claims is no JSON object; one is meant, e.g. '{"depth": "deep"}'.`);
    const unnamed = explain(config, { tool: 'a' });
    assert.ok(!unnamed.ok);
    assert.equal(unnamed.error, 'Say which upstream is meant: --upstream main or more.');
  });
});
