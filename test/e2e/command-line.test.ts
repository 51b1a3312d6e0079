/** The command line as a person reads it: what each command says, where, and the exit code (0 done, 1 failed, 2 wrong input). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { runElicitgate, startElicitgate } from '../kit/program.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const otherKey = Buffer.alloc(32, 8).toString('base64');

/** An empty folder, and in it the files named. */
function folderWith(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-cli-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const valid = (port: number, more = '') => `
version: 1
server: { listen: "127.0.0.1:${port}", admin: false }
identity: { local: { user: me } }
vault: { store: "sqlite:./elicitgate.db", keys: ["\${KEY}"] }
credentials:
  github: { kind: apiKey, title: GitHub, fields: [{ name: token }], inject: { headers: { Authorization: "Bearer {token}" } } }
upstreams:
  github: { url: "http://127.0.0.1:3000/mcp?key=in-the-query", rules: [{ tools: [get_me, "create_*"], requires: [github] }] }
${more}`;

test('help and version are told on standard output, with exit code 0', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string };
  assert.deepEqual(await runElicitgate(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await runElicitgate(['--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  for (const command of ['serve', 'check', 'keygen', 'schema', 'demo']) assert.match(help.stdout, new RegExp(`^ {2}${command} `, 'm'));
  assert.match((await runElicitgate(['serve', '--help'])).stdout, /default:\s+\.\/elicitgate\.yaml\)\n/);
});

test('what the command line does not know is named, with exit code 2 and the way to the help', async (t) => {
  const cwd = folderWith(t);
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [['destroy', '-c', 'x.yaml'], 'This version has no command “destroy”. Run elicitgate --help for the commands.\n'],
    [['sreve'], 'This version has no command “sreve”. Run elicitgate --help for the commands.\n'],
    [['check', '--nope'], "error: unknown option '--nope'\n(run elicitgate --help for the commands)\n"],
    [['keygen', 'extra'], "error: too many arguments for 'keygen'. Expected 0 arguments but got 1: extra.\n(run elicitgate --help for the commands)\n"],
    [['serve', '-c'], "error: option '-c, --config <path>' argument missing\n(run elicitgate --help for the commands)\n"],
    [['demo', '--port', '65536'], "error: option '--port <number>' argument '65536' is invalid. a port is a number from 0 to 65535.\n(run elicitgate --help for the commands)\n"],
    [['demo', '--port', '80 80'], "error: option '--port <number>' argument '80 80' is invalid. a port is a number from 0 to 65535.\n(run elicitgate --help for the commands)\n"],
  ];
  const outcomes = await Promise.all(wrong.map(([args]) => runElicitgate(args, { cwd })));
  assert.deepEqual(outcomes, wrong.map(([, stderr]) => ({ code: 2, stdout: '', stderr })));
});

test('a file that is not there is named, by serve, by check and without a command', async (t) => {
  const cwd = folderWith(t);
  const missing = './elicitgate.yaml:1:1 (file): it cannot be read (ENOENT); a configuration file; name it with -c\n';
  for (const args of [[], ['serve'], ['check', '--offline']]) assert.deepEqual(await runElicitgate(args, { cwd }), { code: 2, stdout: '', stderr: missing });
});

const broken = `version: 1
server: { listen: "8081", admn: false, drain: soon }
identity: { local: { user: me } }
vault: { store: "memory:", keys: ["\${ELICITGATE_ABSENT}", "\${SHORT}"] }
upstreams:
  a: { url: "ftp://127.0.0.1:1/mcp" }
`;
const problems = [
  'wrong.yaml:2:19 server.listen: "8081"; host:port, e.g. 127.0.0.1:8080, localhost:8080 or [::1]:8080',
  'wrong.yaml:2:27 server.admn: an unknown key; did you mean admin?',
  'wrong.yaml:2:47 server.drain: "soon"; a duration such as 500ms, 30s, 15m, 12h or 90d',
  'wrong.yaml:4:35 vault.keys[0]: the environment variable ELICITGATE_ABSENT is not set; set ELICITGATE_ABSENT, or write ${ELICITGATE_ABSENT:-…} with a default; `elicitgate keygen` prints a key',
  'wrong.yaml:4:59 vault.keys[1]: [set]; 32 random bytes in base64: `elicitgate keygen` prints such a key',
  'wrong.yaml:6:13 upstreams.a.url: "ftp://127.0.0.1:1/mcp"; an http or https URL without user, password and fragment',
];

test('every problem of a file is told at once, with its place and what would be right, and never a secret (A25)', async (t) => {
  const cwd = folderWith(t, { 'wrong.yaml': broken });
  const env = { SHORT: 'c2hvcnQtc2VjcmV0LWtleQ==' };
  for (const args of [['serve'], ['check', '--offline']]) {
    assert.deepEqual(await runElicitgate([...args, '-c', 'wrong.yaml'], { cwd, env }), { code: 2, stdout: '', stderr: `${problems.join('\n')}\n` });
  }
  const { code, stdout, stderr } = await runElicitgate(['check', '--offline', '--json', '-c', 'wrong.yaml'], { cwd, env });
  const report = JSON.parse(stdout) as { readonly valid: boolean; readonly problems: readonly { readonly line: number }[] };
  assert.deepEqual([code, stderr, report.valid, report.problems.map(({ line }) => line)], [2, '', false, [2, 2, 2, 4, 4, 6]]);
  assert.ok(!stdout.includes(env.SHORT));
});

test('check says what a valid file means, for people and for scripts, without keys and queries', async (t) => {
  const cwd = folderWith(t, { 'good.yaml': valid(8080) });
  const env = { KEY: key };
  assert.deepEqual(await runElicitgate(['check', '--offline', '-c', 'good.yaml'], { cwd, env }), {
    code: 0,
    stderr: '',
    stdout: `The file is valid. Elicitgate will answer at http://127.0.0.1:8080
Secrets: sqlite:${cwd}/elicitgate.db, keys 1 [set]

github: http://127.0.0.1:8080/github/mcp and http://127.0.0.1:8080/mcp → http://127.0.0.1:3000/mcp
  get_me, create_*: asks for github

Credentials:
  github (apiKey): GitHub
`,
  });
  const { code, stdout } = await runElicitgate(['check', '--offline', '--json', '-c', 'good.yaml'], { cwd, env });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), {
    valid: true,
    publicUrl: 'http://127.0.0.1:8080',
    store: `sqlite:${cwd}/elicitgate.db`,
    keys: '1 [set]',
    upstreams: [{ name: 'github', address: 'http://127.0.0.1:3000/mcp', at: 'http://127.0.0.1:8080/github/mcp', alsoAt: 'http://127.0.0.1:8080/mcp', rules: [{ tools: ['get_me', 'create_*'], requires: ['github'] }] }],
    credentials: [{ name: 'github', kind: 'apiKey', title: 'GitHub' }],
    notYet: [],
  });
  assert.ok(!stdout.includes(key) && !stdout.includes('in-the-query'));
  assert.ok(!existsSync(join(cwd, 'elicitgate.db')), 'checking touches nothing');
});

test('what this version cannot run yet is valid for check and refused by name by serve', async (t) => {
  const more = `telemetry: { otlp: "http://127.0.0.1:4318" }\npayments: { stripe: { secretKey: a, webhookSecret: b } }\n`;
  const cwd = folderWith(t, { 'later.yaml': valid(8080, more) });
  const env = { KEY: key };
  const refused = await runElicitgate(['serve', '-c', 'later.yaml'], { cwd, env });
  assert.deepEqual(refused, {
    code: 2,
    stdout: '',
    stderr: 'payments is understood, but this version cannot run it yet; leave it out\ntelemetry is understood, but this version cannot run it yet; leave it out\n',
  });
  const checked = await runElicitgate(['check', '--offline', '-c', 'later.yaml'], { cwd, env });
  assert.equal(checked.code, 0);
  assert.match(checked.stdout, /\nThis version cannot run all of it yet:\n {2}payments is understood/);
});

test('without its key nothing starts and none is made up; with a wrong one the database stays closed (A25)', async (t) => {
  const port = await freePort();
  const cwd = folderWith(t, { 'elicitgate.yaml': valid(port) });
  const missing = await runElicitgate(['serve'], { cwd });
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /^\.\/elicitgate\.yaml:5:50 vault\.keys\[0\]: the environment variable KEY is not set; .*`elicitgate keygen` prints a key\n$/);
  assert.ok(!existsSync(join(cwd, 'elicitgate.db')));

  const first = startElicitgate(['serve'], { cwd, env: { KEY: key } });
  t.after(() => { first.signal('SIGTERM'); });
  await first.logs(/"msg":"serving"/);
  first.signal('SIGTERM');
  assert.equal(await first.end, 0);
  assert.equal(first.stdout(), '');

  const wrong = await runElicitgate(['serve'], { cwd, env: { KEY: otherKey } });
  assert.deepEqual(wrong, {
    code: 2,
    stdout: '',
    stderr: 'The keys in vault.keys do not fit this database. Use the key that it was made with (it may stand after a new one), or another database.\n',
  });
  const rotated = startElicitgate(['serve'], { cwd: folderWithKeys(cwd), env: { KEY: otherKey, OLD: key } });
  t.after(() => { rotated.signal('SIGTERM'); });
  await rotated.logs(/"msg":"serving"/);
  rotated.signal('SIGINT');
  assert.equal(await rotated.end, 0);
});

/** The same folder, its file now with a new key before the old one. */
function folderWithKeys(cwd: string): string {
  const path = join(cwd, 'elicitgate.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace('["${KEY}"]', '["${KEY}", "${OLD}"]'));
  return cwd;
}

test('a database or an audit file that cannot be opened is told in one sentence', async (t) => {
  const cwd = folderWith(t, { 'elicitgate.db': 'this is no database, but long enough to be taken for one '.repeat(20), 'elicitgate.yaml': valid(await freePort()) });
  const env = { KEY: key };
  const database = await runElicitgate(['serve'], { cwd, env });
  assert.equal(database.code, 2);
  assert.match(database.stderr, new RegExp(`^The database ${cwd}/elicitgate\\.db cannot be opened \\(.*\\)\\. Check that its folder can be written and that the file is an SQLite database\\.\n$`));
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'elicitgate.yaml'), valid(await freePort(), 'audit: { to: ["file:./folder"] }\n').replace('./elicitgate.db', './other.db'));
  const audit = await runElicitgate(['serve'], { cwd, env });
  assert.deepEqual(audit, { code: 2, stdout: '', stderr: `Cannot start: the audit file ${cwd}/folder cannot be opened (Error EISDIR).\n` });
});

test('a port in use is told in one sentence, for calls and for the admin listener, with exit code 1', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const { port } = holder.address() as { readonly port: number };
  const sentence = (place: string) => `Port ${port} is in use by another program; choose another in ${place}.\n`;
  const quiet = 'log: { level: warn }\n';
  const cwd = folderWith(t, { 'calls.yaml': valid(port, quiet), 'admin.yaml': valid(await freePort(), quiet).replace('admin: false', `admin: "127.0.0.1:${port}"`) });
  for (const [file, place] of [['calls.yaml', 'server.listen'], ['admin.yaml', 'server.admin']] as const) assert.deepEqual(await runElicitgate(['serve', '-c', file], { cwd, env: { KEY: key } }), { code: 1, stdout: '', stderr: sentence(place) });
});

test('several files make one; a key that stands in two of them is told', async (t) => {
  const [vault, rest] = ['vault: { store: "memory:", keys: ["${KEY}"] }\n', valid(8080).replace(/^vault.*$/m, '')];
  const cwd = folderWith(t, { 'a.yaml': rest, 'b.yaml': vault, 'c.yaml': vault });
  const env = { KEY: key };
  assert.equal((await runElicitgate(['check', '--offline', '-c', 'a.yaml', '-c', 'b.yaml'], { cwd, env })).code, 0);
  const twice = await runElicitgate(['check', '--offline', '-c', '.'], { cwd, env });
  assert.equal(twice.code, 2);
  assert.match(twice.stderr, /c\.yaml:1:\d+ vault.*: .*b\.yaml/);
});

test('keygen prints a key alone on standard output, or writes it into a new file that only its owner reads', async (t) => {
  const cwd = folderWith(t);
  const [printed, again] = [await runElicitgate(['keygen'], { cwd }), await runElicitgate(['keygen'], { cwd })];
  assert.deepEqual([printed.code, printed.stderr], [0, '']);
  assert.match(printed.stdout, /^[A-Za-z0-9+/]{43}=\n$/);
  assert.notEqual(printed.stdout, again.stdout);

  const path = join(cwd, 'keys', 'elicitgate.key');
  const written = await runElicitgate(['keygen', '--out', 'keys/elicitgate.key'], { cwd });
  assert.deepEqual(written, { code: 0, stdout: '', stderr: 'A new key was written to keys/elicitgate.key. Name it in the file: keys: ["${file:keys/elicitgate.key}"]\n' });
  assert.equal((statSync(path).mode & 0o777).toString(8), '600');
  const content = readFileSync(path, 'utf8');
  assert.match(content, /^[A-Za-z0-9+/]{43}=\n$/);
  const refused = await runElicitgate(['keygen', '--out', 'keys/elicitgate.key'], { cwd });
  assert.deepEqual(refused, { code: 1, stdout: '', stderr: 'keys/elicitgate.key is there already, and a key that is overwritten is lost; choose another name.\n' });
  assert.equal(readFileSync(path, 'utf8'), content);
  const impossible = await runElicitgate(['keygen', '--out', 'keys/elicitgate.key/below'], { cwd });
  assert.equal(impossible.code, 1);
  assert.match(impossible.stderr, /^keys\/elicitgate\.key\/below cannot be written \(E[A-Z]+\)\.\n$/);
});

test('schema prints the schema that ships', async () => {
  const { code, stdout, stderr } = await runElicitgate(['schema']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout, readFileSync(new URL('../../config/elicitgate.schema.json', import.meta.url), 'utf8'));
});
