/** The database fails in every way that a disk and an operator can make it fail: never "not there", never a hang (B2). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, openSync, closeSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { UnavailableError } from '../../src/errors.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { assertUnavailable } from '../stores/suite.ts';

const one = new TextEncoder().encode('1');
const two = new TextEncoder().encode('2');
let folder: string;
let path: string;
const open = () => openSqliteStore(path, 'default', Date.now);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'elicitgate-fault-'));
  path = join(folder, 'secrets.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a file that is deleted, or whose folder is, while the store is open: could not look, and nothing is written to nowhere (B2)', async () => {
  for (const gone of [path, folder]) {
    mkdirSync(folder, { recursive: true });
    const store = open();
    await store.put('a', one);
    rmSync(gone, { recursive: true });
    await assertUnavailable(store);
    await store.close();
  }
});

test('a file that is replaced while the store is open is not taken for the old one (B2)', async () => {
  const store = open();
  await store.put('a', one);
  copyFileSync(path, `${path}.backup`);
  renameSync(`${path}.backup`, path);
  await assertUnavailable(store);
  await store.close();
});

test('a file that comes back is used again without a restart (B2)', async () => {
  const store = open();
  await store.put('a', one);
  renameSync(path, `${path}.away`);
  await assertUnavailable(store);
  renameSync(`${path}.away`, path);
  assert.deepEqual(await store.get('a'), one);
  await store.close();
});

test('what is not a database, and what is none of ours, is refused in our own words and left as it was', () => {
  const mine = 'The Tragedy of Hamlet, Prince of Denmark. '.repeat(100);
  writeFileSync(path, mine);
  assert.throws(open, (error) => error instanceof UnavailableError && error.message === 'the SQLite store failed: it is not a database');
  assert.equal(readFileSync(path, 'utf8'), mine);
  rmSync(path);

  const foreign = new DatabaseSync(path);
  foreign.exec('CREATE TABLE records (id INTEGER PRIMARY KEY, title TEXT)');
  foreign.close();
  assert.throws(open, UnavailableError);
  rmSync(path);

  mkdirSync(path);
  assert.throws(open, UnavailableError);
});

test('a store that could not be opened keeps no file open', { skip: process.platform !== 'linux' && 'counts files in /proc' }, () => {
  writeFileSync(path, 'no database'.repeat(100));
  const openFiles = (): number => readdirSync('/proc/self/fd').length;
  assert.throws(open, UnavailableError);
  const before = openFiles();
  for (let time = 0; time < 5; time += 1) assert.throws(open, UnavailableError);
  assert.equal(openFiles(), before);
});

test('a file or folder that may not be written is refused at start (B2)', () => {
  withoutRoot(() => {
    writeFileSync(path, '');
    chmodSync(path, 0o400);
    assert.throws(open, UnavailableError);
    chmodSync(path, 0o600);
    chmodSync(folder, 0o500);
    assert.throws(open, UnavailableError);
    path = join(folder, 'data', 'secrets.db');
    assert.throws(open, UnavailableError);
    chmodSync(folder, 0o700);
  });
});

test('while another program writes, reads go on, writes wait without holding up the process, and give up within two seconds (B2)', async () => {
  const store = open();
  await store.put('a', one);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');

  const started = performance.now();
  const write = assert.rejects(store.put('a', two), (error) => error instanceof UnavailableError && error.message === 'the SQLite store failed: another program has it locked');
  assert.deepEqual(await store.get('a'), one);
  let turns = 0;
  while (await Promise.race([write.then(() => false), setImmediate(true)])) turns += 1;
  assert.ok(performance.now() - started < 2_000);
  assert.ok(turns > 100, `the process took ${turns} turns`);

  other.exec('ROLLBACK');
  await store.put('a', two);
  assert.deepEqual(await store.get('a'), two);
  other.close();
  await store.close();
});

test('a write that another program held up is done as soon as that one lets go (B2)', async () => {
  const store = open();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const write = store.putIfAbsent('a', one);
  await setImmediate();
  other.exec('COMMIT');
  assert.equal(await write, true);
  other.close();
  await store.close();
});

test('damage in the file is an error, never a record that is not there (B2)', async () => {
  const store = open();
  for (let nth = 0; nth < 200; nth += 1) await store.put(`n/${nth}`, new Uint8Array(1_000));
  await store.close();
  const pageBytes = 4_096;
  const file = openSync(path, 'r+');
  for (let at = pageBytes * 3; at < statSync(path).size; at += pageBytes) writeSync(file, Buffer.alloc(100, 0xff), 0, 100, at);
  closeSync(file);

  const damaged = open();
  await assert.rejects(damaged.list(''), (error) => error instanceof UnavailableError && error.message === 'the SQLite store failed: it is damaged');
  await assert.rejects(damaged.get('n/77'), UnavailableError);
  await damaged.close();
});

test('on a full disk nothing is acknowledged that is not stored, and nothing is handed out that is not removed (B2)', { skip: process.platform !== 'linux' && 'limits the size of files with ulimit' }, async () => {
  const store = open();
  await store.put('mine', one);
  await store.close();
  const script = `
    import { openSqliteStore } from ${JSON.stringify(import.meta.resolve('../../src/stores/sqlite.ts'))};
    const store = openSqliteStore(${JSON.stringify(path)}, 'default', Date.now);
    const stored = [];
    let failure;
    for (let nth = 0; nth < 100 && failure === undefined; nth += 1) {
      await store.put('n/' + nth, new Uint8Array(20_000)).then(() => stored.push('n/' + nth), (error) => { failure = error; });
    }
    const taken = await store.take('mine').then(() => 'taken', (error) => error.name);
    console.log(JSON.stringify({ stored, failure: failure?.name, taken }));`;
  // ulimit counts blocks of 1,024 bytes.
  const child = spawnSync('bash', ['-c', 'ulimit -f 300; exec "$0" --input-type=module -e "$1"', process.execPath, script], { encoding: 'utf8' });
  const outcome = JSON.parse(child.stdout) as { readonly stored: readonly string[]; readonly failure: string; readonly taken: string };
  assert.equal(outcome.failure, 'UnavailableError');
  assert.ok(outcome.stored.length > 0);
  assert.equal(outcome.taken, 'UnavailableError');

  const after = open();
  assert.deepEqual((await after.list('n/')).map(({ key }) => key).sort(), [...outcome.stored].sort());
  assert.deepEqual(await after.take('mine'), one);
  await after.close();
});

/** Root may write everything, so the test gives up being root for a moment. */
function withoutRoot(act: () => void): void {
  const nobody = 65_534;
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    chownSync(folder, nobody, nobody);
    process.seteuid?.(nobody);
  }
  try {
    act();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
