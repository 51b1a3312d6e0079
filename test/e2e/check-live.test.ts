/** `check` with the upstreams asked: what each tool needs, what is worth a look, and who does not answer. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { runElicitgate } from '../kit/program.ts';
import { json, startRecorder, type Behaviour } from '../kit/recorder.ts';

const env = { KEY: Buffer.alloc(32, 7).toString('base64') };

const rules = `
      - { tools: [search], when: { arguments: { depth: deep } }, requires: [github] }
      - { tools: ["create_*"], when: { arguments: { kind: paid } }, requires: [github] }
      - { tools: [serach], requires: [github] }`;

function fileFor(url: string, more = ''): string {
  return `
version: 1
server: { listen: "127.0.0.1:0", admin: false }
identity: { local: { user: me } }
vault: { store: "sqlite:./elicitgate.db", keys: ["\${KEY}"] }
credentials:
  github: { kind: apiKey, title: GitHub, fields: [{ name: token }], inject: { headers: { Authorization: "Bearer {token}" } } }
upstreams:
  main:
    url: "${url}"
    headers: { X-Operator: mine }${more}
    rules:${rules}
`;
}

async function serverWith(t: TestContext, tools: readonly object[], pages = 1) {
  const server = mcpServer();
  const behaviour: Behaviour = (request) => {
    const call = callOf(request);
    if (call?.method !== 'tools/list') return server(request);
    const page = Number((call.params as { readonly cursor?: string } | undefined)?.cursor ?? 0);
    const size = Math.ceil(tools.length / pages);
    return json({ jsonrpc: '2.0', id: call.id, result: { tools: tools.slice(page * size, (page + 1) * size), ...(page + 1 < pages ? { nextCursor: String(page + 1) } : {}) } });
  };
  const recorder = await startRecorder(behaviour);
  t.after(recorder.close);
  return recorder;
}

function inFolder(t: TestContext, file: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'elicitgate-check-'));
  t.after(() => { rmSync(cwd, { recursive: true, force: true }); });
  writeFileSync(join(cwd, 'f.yaml'), file);
  return cwd;
}

const tools = [
  { name: 'search', inputSchema: { type: 'object' } },
  { name: 'create_issue', inputSchema: { type: 'object', required: ['kind'] } },
  { name: 'whoami', inputSchema: { type: 'object' } },
];

test('check says for each tool what is asked, and warns of idle rules, free tools and arguments that may be left out', async (t) => {
  const upstream = await serverWith(t, tools, 2);
  const cwd = inFolder(t, fileFor(upstream.url));
  const { code, stdout, stderr } = await runElicitgate(['check', '-c', 'f.yaml'], { cwd, env });
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout.slice(stdout.indexOf('Tools of')), `Tools of main:
  search: asks for github when argument depth is "deep"
  create_issue: asks for github when argument kind is "paid"
  whoami: passes

Worth a look:
  upstreams.main.rules[2]: no tool there is called serach.
  upstreams.main: no rule is about whoami; they pass as they are.
  upstreams.main.rules[0]: a call that leaves out the argument depth is not asked for anything by this rule.
`);
  assert.ok(upstream.requests.every(({ rawHeaders }) => rawHeaders.includes('X-Operator') || rawHeaders.includes('x-operator')), 'with the operator’s headers');
  assert.equal(upstream.requests.at(-1)?.method, 'DELETE', 'its session is ended');
});

test('check --json says the same as data', async (t) => {
  const upstream = await serverWith(t, tools);
  const cwd = inFolder(t, fileFor(upstream.url));
  const { code, stdout } = await runElicitgate(['check', '--json', '-c', 'f.yaml'], { cwd, env });
  const { live } = JSON.parse(stdout) as { readonly live: { readonly upstreams: readonly unknown[]; readonly warnings: readonly string[]; readonly failures: readonly string[] } };
  assert.equal(code, 0);
  assert.deepEqual(live.upstreams, [{
    name: 'main',
    tellsTools: 'upstream',
    tools: [
      { name: 'search', rules: [{ tools: ['search'], when: ['argument depth is "deep"'], requires: ['github'] }] },
      { name: 'create_issue', rules: [{ tools: ['create_*'], when: ['argument kind is "paid"'], requires: ['github'] }] },
      { name: 'whoami', rules: [] },
    ],
  }]);
  assert.deepEqual([live.warnings.length, live.failures], [3, []]);
});

test('an upstream and an issuer where nobody answers end check with exit code 1 and their names', async (t) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const file = fileFor(url)
    .replace('server: {', 'server: { publicUrl: "http://127.0.0.1:1",')
    .replace('{ local: { user: me } }', `{ oauth: { issuer: "http://127.0.0.1:${port}", audience: "http://127.0.0.1:1/mcp", login: { clientId: x, clientSecret: "${env.KEY}" } } }`);
  const { code, stdout, stderr } = await runElicitgate(['check', '-c', 'f.yaml'], { cwd: inFolder(t, file), env });
  assert.equal(code, 1, stderr);
  const told = stdout.slice(stdout.indexOf('Does not work now:')).split('\n');
  assert.equal(told[1], `  upstreams.main: ${url} cannot be asked (nobody answers there).`);
  assert.match(told[2] ?? '', new RegExp(`^  identity\\.oauth\\.issuer: http://127\\.0\\.0\\.1:${port} does not describe itself \\(.+\\)\\.$`));
});

test('an upstream that shows its tools only with a credential is told, and its catalogue speaks for it', async (t) => {
  const upstream = await startRecorder(() => ({ status: 401 }));
  t.after(upstream.close);
  const cwd = inFolder(t, fileFor(upstream.url, '\n    catalogue: ./c.json'));
  writeFileSync(join(cwd, 'c.json'), JSON.stringify({ initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } }, tools: [{ name: 'search', inputSchema: { required: ['depth'] } }] }));
  const { code, stdout } = await runElicitgate(['check', '-c', 'f.yaml'], { cwd, env });
  assert.equal(code, 0);
  assert.match(stdout, /Tools of main \(from its catalogue\):\n {2}search: asks for github when argument depth is "deep"\n/);
  assert.match(stdout, /upstreams\.main: status 401: it shows its tools only with a credential\.\n/);
});

test('names of tools that would write to the terminal are printed as text', async (t) => {
  const upstream = await serverWith(t, [{ name: '\u001b]0;owned\u0007\nget_me: passes\u202e', inputSchema: {} }]);
  const { stdout } = await runElicitgate(['check', '-c', 'f.yaml'], { cwd: inFolder(t, fileFor(upstream.url)), env });
  assert.ok(stdout.includes(String.raw`  "\u001b]0;owned\u0007\nget_me: passes\u202e": passes`), stdout);
});
