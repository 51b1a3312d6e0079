import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { aKey, configOf, fileOf, folderWith, problemsOf } from './load-text.ts';

test('A small file is filled with every default', (context) => {
  const config = configOf(context, fileOf());
  assert.deepEqual(config.server, {
    listen: { host: '127.0.0.1', port: 8080 },
    publicUrl: new URL('http://127.0.0.1:8080/'),
    pagesPath: '/',
    admin: { host: '127.0.0.1', port: 9090 },
    trustedProxies: [],
    allowedHosts: [],
    allowedOrigins: [],
    maxBody: 8_388_608,
    drain: 30_000, closeAfter: 0,
  });
  assert.deepEqual(config.elicitation, { delivery: 'error', fallback: 'text', holdFor: 45_000, expiresAfter: 1_800_000, clients: [] });
  assert.deepEqual(config.limits, {
    perUser: { submissions: { count: 10, perMs: 600_000 }, openInteractions: 20, held: 10 },
    perAddress: { pages: { count: 120, perMs: 60_000 } },
  });
  assert.deepEqual(config.log, { level: 'info', format: 'json' });
  assert.deepEqual(config.audit, { to: [{ kind: 'stdout' }], required: false });
  assert.equal(config.vault.cacheFor, 30_000);
  assert.equal(config.vault.deleteUnusedAfter, 31_536_000_000);
  assert.equal(config.vault.namespace, 'default');
});

test('Several files and folders are merged at every depth', (context) => {
  const folder = folderWith(context, {
    'main.yaml': fileOf({ upstreams: undefined, credentials: undefined }),
    'parts/a.yaml': 'credentials: { k: { kind: apiKey, fields: [{ name: token }], inject: { headers: { X-Key: "{token}" } } } }',
    'parts/b.yml': 'upstreams: { u: { url: "http://127.0.0.1:3000/mcp", rules: [{ tools: ["*"], requires: [k] }] } }',
    'parts/c.yaml': 'upstreams: { v: { url: "http://127.0.0.1:3001/mcp" } }\nserver: { drain: 5s }\n',
    'parts/notes.txt': 'not: read',
  });
  const result = loadConfig([join(folder, 'main.yaml'), join(folder, 'parts')], {});
  assert.ok(result.ok, result.ok ? '' : result.error.map(formatProblem).join('\n'));
  assert.deepEqual(Object.keys(result.value.upstreams), ['u', 'v']);
  assert.equal(result.value.server.drain, 5000);
});

test('A key that two files give is an error that names both places', (context) => {
  const folder = folderWith(context, { 'a.yaml': fileOf(), 'b.yaml': 'log: { level: warn }\nversion: 1\n' });
  const result = loadConfig([join(folder, 'a.yaml'), join(folder, 'b.yaml')], {});
  assert.deepEqual(result.ok ? [] : result.error.map(formatProblem), [
    `${folder}/b.yaml:2:1 version: a key given twice; once: it stands in ${folder}/a.yaml, line 1, too`,
  ]);
});

test('Problems of all files come together, in the order of the files and lines', (context) => {
  const folder = folderWith(context, { 'a.yaml': fileOf({ log: '{ level: loud }' }), 'b.yaml': 'server: { drain: soon }\npages: { accent: red }\n' });
  const result = loadConfig([folder], {});
  assert.deepEqual(result.ok ? [] : result.error.map((problem) => formatProblem(problem).slice(folder.length + 1)), [
    'a.yaml:6:15 log.level: "loud"; trace, debug, info, warn, error or silent',
    'b.yaml:1:18 server.drain: "soon"; a duration such as 500ms, 30s, 15m, 12h or 90d',
    'b.yaml:2:18 pages.accent: "red"; a colour such as "#2f6f4f" (in quotes: # begins a comment)',
  ]);
});

test('A file that cannot be read, is empty or is no map is a problem, and what may stand in it is not missed', (context) => {
  const folder = folderWith(context, { 'empty.yaml': '', 'list.yaml': '- a\n', 'broken.yaml': 'a: "', 'rest.yaml': 'server: { drian: 1s }', 'none/x.txt': '' });
  const paths = ['missing.yaml', 'empty.yaml', 'list.yaml', 'broken.yaml', 'rest.yaml', 'none'].map((name) => join(folder, name));
  const result = loadConfig(paths, {});
  assert.deepEqual(result.ok ? [] : result.error.map((problem) => formatProblem(problem).slice(folder.length + 1)), [
    'missing.yaml:1:1 (file): it cannot be read (ENOENT); a configuration file; name it with -c',
    'empty.yaml:1:1 (file): no map of keys; a map that begins with version: 1',
    'list.yaml:1:1 (file): no map of keys; a map that begins with version: 1',
    'broken.yaml:1:5 (file): a quote, bracket, colon or comma is missing; the missing character',
    'rest.yaml:1:11 server.drian: an unknown key; did you mean drain?',
    'none:1:1 (file): a folder without .yaml files; a file, or a folder with .yaml files',
  ]);
});

test('A file that is not UTF-8 is refused', (context) => {
  const folder = folderWith(context, {});
  writeFileSync(join(folder, 'x.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xff]));
  const result = loadConfig([join(folder, 'x.yaml')], {});
  assert.deepEqual(result.ok ? [] : result.error.map((problem) => formatProblem(problem).slice(folder.length + 1)), [
    'x.yaml:1:1 (file): it cannot be read (ERR_ENCODING_INVALID_ENCODED_DATA); a readable file in UTF-8',
  ]);
});

test('Variables and files are put in, also for a key, relative to the file', (context) => {
  const folder = folderWith(context, {
    'conf/elicitgate.yaml': fileOf({ vault: '{ store: "memory:", keys: ["${KEY}", "${file:../secrets/old}"] }' }),
    'secrets/old': `${Buffer.alloc(32, 8).toString('base64')}\n`,
  });
  const result = loadConfig([join(folder, 'conf')], { KEY: aKey });
  assert.ok(result.ok, result.ok ? '' : result.error.map(formatProblem).join('\n'));
  assert.deepEqual(result.value.vault.keys, [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]);
});

test('A missing variable is one problem, at its place, with its name', (context) => {
  const file = fileOf({ vault: '{ store: "memory:", keys: ["${ELICITGATE_KEY}"] }' });
  assert.deepEqual(problemsOf(context, file), [
    '3:35 vault.keys[0]: the environment variable ELICITGATE_KEY is not set; set ELICITGATE_KEY, or write ${ELICITGATE_KEY:-…} with a default; `elicitgate keygen` prints a key',
  ]);
});

test('A value from outside stays a text where a number is wanted', (context) => {
  const file = fileOf({ limits: '{ perUser: { held: "${HELD}" } }' });
  assert.deepEqual(problemsOf(context, file, { HELD: '5' }), ['6:28 limits.perUser.held: [set]; a number']);
});

test('Keys beginning with x- are the author’s own everywhere, and anchors in them work', (context) => {
  const file = fileOf({
    server: '{ x-owner: me }',
    credentials: '{ x-base: &base { kind: apiKey, inject: { headers: { X-Key: "{token}" } } }, k: { <<: *base, fields: [*field] } }',
    upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp", headers: { x-api-version: "2" }, rules: [{ tools: ["*"], requires: [k], x-why: because }] } }',
  });
  const config = configOf(context, `x-templates: { field: &field { name: token, x-note: n } }\n${file}`);
  assert.deepEqual(Object.keys(config.credentials), ['k']);
  const upstream = config.upstreams['u'];
  assert.deepEqual(upstream?.transport === 'streamable-http' && upstream.headers, { 'x-api-version': '2' });
});

test('A header that begins with x- is not taken for a key of the author’s own when its value is wrong', (context) => {
  const file = fileOf({ upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp", headers: { x-api-version: 2 } } }' });
  assert.deepEqual(problemsOf(context, file), [
    '5:79 upstreams.u.headers.x-api-version: [set]; a text (in quotes, when it looks like a number or a yes or no)',
  ]);
});

test('A name is looked up among those that the file gives, never among those of the language', (context) => {
  const config = configOf(context, fileOf());
  assert.equal(config.credentials['constructor'], undefined);
  assert.equal(config.upstreams['toString'], undefined);
});
