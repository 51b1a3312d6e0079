import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aKey, configOf, fileOf, problemsOf } from './load-text.ts';

const oauth = '{ oauth: { issuer: "https://id.example.com", login: { clientId: e } } }';
const sqlite = `{ store: "sqlite:./x.db", keys: ["${aKey}"] }`;

test('A public URL is https unless it is loopback', (context) => {
  const server = '{ listen: "0.0.0.0:8080", publicUrl: "http://mcp.example.com" }';
  assert.deepEqual(problemsOf(context, fileOf({ identity: oauth, vault: sqlite, server })), [
    '6:46 server.publicUrl: http on an address that is not loopback; https, because people type secrets there',
  ]);
  for (const url of ['https://mcp.example.com/tools', 'http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
    assert.deepEqual(problemsOf(context, fileOf({ identity: oauth, vault: sqlite, server: `{ publicUrl: "${url}" }` })), [], url);
  }
});

test('A process that listens beyond this machine says what browsers type', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ identity: oauth, vault: sqlite, server: '{ listen: "10.0.0.5:8080" }' })), [
    '6:1 server.publicUrl: missing, while listen is not loopback; the https URL that browsers and clients type',
  ]);
});

test('Without a public URL it is http and the listening address', (context) => {
  const url = (listen: string) => configOf(context, fileOf({ server: `{ listen: "${listen}" }` })).server.publicUrl.href;
  assert.equal(url('127.0.0.1:9000'), 'http://127.0.0.1:9000/');
  assert.equal(url('[::1]:9000'), 'http://[::1]:9000/');
  assert.equal(url('localhost:0'), 'http://localhost:0/');
});

test('The memory store is only for pages on this machine', (context) => {
  const server = '{ publicUrl: "https://mcp.example.com" }';
  assert.deepEqual(problemsOf(context, fileOf({ identity: oauth, server })), [
    '3:17 vault.store: memory: behind a public address; sqlite:PATH or another store that outlives the process; memory: is for this machine only',
  ]);
  assert.deepEqual(problemsOf(context, fileOf({ identity: oauth })), []);
});

test('Missing keys are answered with the command that makes one', (context) => {
  const right = 'a list with at least one key: `elicitgate keygen` prints one';
  assert.deepEqual(problemsOf(context, fileOf({ vault: '{ store: "memory:" }' })), [
    `3:1 vault.keys: missing; ${right}: Keys of 32 random bytes in base64, as \`elicitgate keygen\` makes them; the first seals, all open.`,
  ]);
  assert.deepEqual(problemsOf(context, fileOf({ vault: '{ store: "memory:", keys: [] }' })), [`3:28 vault.keys: an empty list; ${right}`]);
  assert.match(problemsOf(context, fileOf({ vault: undefined }))[0] ?? '', /^1:1 vault: missing; a map with keys; `elicitgate keygen` prints a key/);
});

test('A key of another length, or one given twice, is refused without being shown', (context) => {
  const short = Buffer.alloc(31, 5).toString('base64');
  assert.deepEqual(problemsOf(context, fileOf({ vault: `{ store: "memory:", keys: ["${short}", "${aKey}", "${aKey}"] }` })), [
    '3:35 vault.keys[0]: [set]; 32 random bytes in base64: `elicitgate keygen` prints such a key',
  ]);
  assert.deepEqual(problemsOf(context, fileOf({ vault: `{ store: "memory:", keys: ["${aKey}", "${aKey}"] }` })), [
    '3:83 vault.keys[1]: [set], the same key as before; each key once',
  ]);
});

test('The admin address is another than the public one', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ server: '{ admin: "127.0.0.1:8080" }' })), [
    '6:18 server.admin: the port of server.listen; another port, or false',
  ]);
  assert.equal(configOf(context, fileOf({ server: '{ admin: false }' })).server.admin, false);
});

test('Required audit lines have somewhere to go', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ audit: '{ to: [], required: true }' })), [
    '6:10 audit.to: an empty list, although audit.required is true; stdout or file:PATH, or required: false',
  ]);
});

test('Hosts, origins, networks and paths are what they say', (context) => {
  const server = '{ allowedHosts: ["a/b"], allowedOrigins: ["https://a.b/c"], trustedProxies: [everyone], pagesPath: auth, maxBody: 8MB }';
  assert.deepEqual(problemsOf(context, fileOf({ server })), [
    '6:26 server.allowedHosts[0]: "a/b"; a host such as mcp.internal or mcp.internal:8080',
    '6:51 server.allowedOrigins[0]: "https://a.b/c"; an origin such as https://app.example.com, without a path',
    '6:86 server.trustedProxies[0]: "everyone"; an IP address or a network such as 10.0.0.0/8 or fd00::/8',
    '6:108 server.pagesPath: "auth"; a path such as /github/mcp',
    '6:123 server.maxBody: "8MB"; a size such as 512KiB, 4MiB or 1GiB',
  ]);
});

test('a path where a key belongs is taken for what it is: the file must be named with ${file:…}', (t) => {
  const remedy = '[set]; ${file:PATH} around the path of a file that holds the key';
  for (const path of ['./elicitgate.key', '/run/secrets/elicitgate-key', '~/keys/one.key', '../one.key']) {
    const [problem = ''] = problemsOf(t, fileOf({ vault: `{ store: "memory:", keys: ["${path}"] }` }));
    assert.ok(problem.endsWith(`vault.keys[0]: ${remedy}`), problem);
  }
});
