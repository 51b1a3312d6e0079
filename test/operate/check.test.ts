import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { formatReport, reportOn } from '../../src/operate/check.ts';

const canary = 'sk-canary-4f9d2c7b81';

const file = `
version: 1
server: { publicUrl: "http://localhost:8080", advertise: "http://10.0.0.1:8080" }
identity: { local: { user: ada } }
vault: { store: "sqlite:./secrets.db", keys: ["\${KEY}"] }
credentials:
  github: { kind: apiKey, title: { en: GitHub, de: GitHub (de) }, fields: [{ name: token, label: Token }], inject: { headers: { Authorization: "Bearer {token}" } } }
  jira: { kind: apiKey, title: Jira, fields: [{ name: token, label: Token }], inject: { headers: { X-Jira: "{token}" } } }
upstreams:
  main:
    url: http://127.0.0.1:3000/mcp?key=\${SECRET}
    headers: { X-Operator: "\${SECRET}" }
    rules:
      - { tools: [get_me, "create_*"], requires: [github] }
      - { tools: [search], when: { arguments: { depth: [deep, 3], n: { gt: 1, lte: 5 }, q: { matches: "^x" } } }, unless: { claims: { plan: pro, trial: { exists: false } } }, requires: [{ anyOf: [github, jira] }] }
      - { tools: [a], resources: ["docs://*"], prompts: [review, "!review_*"], requires: [github] }
  plain: { url: "http://127.0.0.1:3001/mcp" }
  child: { transport: stdio, command: npx, args: [-y, some-server, --token, "\${SECRET}"], trusted: true, env: { TOKEN: "\${SECRET}" } }
`;

function report() {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-check-'));
  const path = join(folder, 'elicitgate.yaml');
  writeFileSync(path, file);
  const config = loadConfig([path], { KEY: Buffer.alloc(32, 1).toString('base64'), SECRET: canary });
  rmSync(folder, { recursive: true });
  assert.ok(config.ok, config.ok ? '' : config.error.map(formatProblem).join('\n'));
  return { folder, report: reportOn(config.value) };
}

test('a report says where each upstream answers, what its tools ask for, and what this version cannot run yet', () => {
  const { folder, report: made } = report();
  assert.equal(
    formatReport(made).split('\nThis version')[0],
    `The file is valid. Elicitgate will answer at http://localhost:8080
Secrets: sqlite:${folder}/secrets.db, keys 1 [set]

main: http://localhost:8080/main/mcp → http://127.0.0.1:3000/mcp
  get_me, create_*: asks for github
  search when argument depth is "deep" or 3 and argument n > 1 and ≤ 5 and argument q matches ^x unless claim plan is "pro" and claim trial is absent: asks for any of github, jira
  a; resources docs://*; prompts review, !review_*: asks for github

plain: http://localhost:8080/plain/mcp → http://127.0.0.1:3001/mcp
  no rules: everything passes

child: http://localhost:8080/child/mcp → npx (arguments: 4 [set])
  no rules: everything passes

Credentials:
  github (apiKey): GitHub
  jira (apiKey): Jira
`,
  );
  assert.ok(made.notYet.some((message) => message.startsWith('server.advertise is understood')));
});

test('no secret of the operator’s is in it, be it in a query, a header, an argument, an environment or a key (A25)', () => {
  const { report: made } = report();
  for (const text of [JSON.stringify(made), formatReport(made)]) {
    assert.equal(text.includes(canary), false);
    assert.equal(text.includes(Buffer.alloc(32, 1).toString('base64')), false);
  }
});
