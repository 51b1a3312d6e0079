import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { aKey, fileOf, folderWith } from './load-text.ts';

const vault = (store: string) => `{ store: "${store}", keys: ["${aKey}"] }`;

function load(folder: string): Config {
  const result = loadConfig([join(folder, 'conf/elicitgate.yaml')], {});
  assert.ok(result.ok, result.ok ? '' : result.error.map(formatProblem).join('\n'));
  return result.value;
}

test('Relative paths count from the file in which they stand', (context) => {
  const folder = folderWith(context, {
    'conf/elicitgate.yaml': fileOf({ vault: vault('sqlite:./data/x.db'), pages: '{ logo: ../logo.png }', audit: '{ to: [stdout, "file:audit.log"] }' }),
    'logo.png': '',
  });
  const config = load(folder);
  assert.deepEqual(config.vault.store, { kind: 'sqlite', path: join(folder, 'conf/data/x.db') });
  assert.deepEqual(config.pages.logo, { path: join(folder, 'logo.png'), mediaType: 'image/png' });
  assert.deepEqual(config.audit.to, [{ kind: 'stdout' }, { kind: 'file', path: join(folder, 'conf/audit.log') }]);
});

test('The store is beside the file when nothing else is said, and absolute paths stay', (context) => {
  const config = load(folderWith(context, { 'conf/elicitgate.yaml': fileOf({ vault: `{ keys: ["${aKey}"] }` }) }));
  assert.match(config.vault.store.kind === 'sqlite' ? config.vault.store.path : '', /\/conf\/data\/elicitgate\.db$/);
  const absolute = load(folderWith(context, { 'conf/elicitgate.yaml': fileOf({ vault: vault('sqlite:/var/lib/e.db') }) }));
  assert.deepEqual(absolute.vault.store, { kind: 'sqlite', path: '/var/lib/e.db' });
});

test('Stores are named by their kind', (context) => {
  const store = (text: string) => load(folderWith(context, { 'conf/elicitgate.yaml': fileOf({ vault: vault(text) }) })).vault.store;
  assert.deepEqual(store('memory:'), { kind: 'memory' });
  assert.deepEqual(store('postgres://host/db'), { kind: 'postgres', url: 'postgres://host/db' });
  assert.deepEqual(store('rediss://host'), { kind: 'redis', url: 'rediss://host' });
});

test('What a file names must exist and be of the right kind', (context) => {
  const folder = folderWith(context, {
    'conf/elicitgate.yaml': fileOf({
      pages: '{ logo: ./logo.gif }',
      outbound: '{ ca: ./missing.pem }',
      audit: '{ to: ["file:missing/audit.log"] }',
      upstreams:
        '\n  a: { url: "http://a", catalogue: ., tls: { ca: no.pem, cert: no.pem, key: no.pem } }\n  b: { transport: stdio, command: x, cwd: ./logo.gif }',
    }),
    'conf/logo.gif': '',
  });
  const result = loadConfig([join(folder, 'conf/elicitgate.yaml')], {});
  const aFile = 'a file that exists; relative paths count from this file’s folder';
  assert.deepEqual(result.ok ? [] : result.error.map(({ path, found, right }) => `${path}: ${found}; ${right}`), [
    `upstreams.a.catalogue: "."; ${aFile}`,
    `upstreams.a.tls.ca: "no.pem"; ${aFile}`,
    `upstreams.a.tls.cert: "no.pem"; ${aFile}`,
    `upstreams.a.tls.key: "no.pem"; ${aFile}`,
    'upstreams.b.cwd: "./logo.gif"; a folder that exists; relative paths count from this file’s folder',
    'pages.logo: "./logo.gif"; an image: .svg, .png or .jpg',
    `outbound.ca: "./missing.pem"; ${aFile}`,
    'audit.to[0]: "missing/audit.log"; a file in a folder that exists',
  ]);
});
