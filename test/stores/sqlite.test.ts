import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { describeStore } from './suite.ts';

describeStore('SQLite', async (now) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-store-'));
  return {
    store: openSqliteStore(join(folder, 'data', 'secrets.db'), 'default', now),
    cleanUp: () => { rmSync(folder, { recursive: true }); },
  };
});

const one = new TextEncoder().encode('1');
let folder: string;
let path: string;
let time = Date.UTC(2026, 10, 30);
const now = (): number => time;
const open = (namespace = 'default') => openSqliteStore(path, namespace, now);
const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'elicitgate-store-'));
  path = join(folder, 'secrets.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('the file, its WAL, its index and every folder made for them are readable by their owner only', async () => {
  path = join(folder, 'deep', 'data', 'secrets.db');
  const store = open();
  await store.put('a', one);
  assert.deepEqual([path, `${path}-wal`, `${path}-shm`].map(modeOf), ['600', '600', '600']);
  assert.deepEqual([join(folder, 'deep', 'data'), join(folder, 'deep')].map(modeOf), ['700', '700']);
  await store.close();
});

test('a folder that was there keeps its mode, and files that others could read are closed to them', async () => {
  mkdirSync(join(folder, 'theirs'), { mode: 0o755 });
  path = join(folder, 'theirs', 'secrets.db');
  const first = open();
  await first.put('a', one);
  const files = [path, `${path}-wal`, `${path}-shm`];
  for (const file of files) chmodSync(file, 0o644);
  const second = open();
  assert.deepEqual(files.map(modeOf), ['600', '600', '600']);
  assert.equal(modeOf(join(folder, 'theirs')), '755');
  await Promise.all([first.close(), second.close()]);
});

test('every record waits for the disk but those that may be lost, all go through the WAL, and what is deleted is overwritten (B1)', async (t) => {
  const written: (readonly unknown[])[] = [];
  const prepare = DatabaseSync.prototype.prepare;
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    const statement = prepare.call(this, sql);
    const run = statement.run.bind(statement);
    const pragma = (name: string): unknown => Object.values(prepare.call(this, `PRAGMA ${name}`).get() ?? {})[0];
    return Object.assign(statement, {
      run(...values: SQLInputValue[]) {
        written.push([values[1], pragma('journal_mode'), pragma('synchronous'), pragma('secure_delete')]);
        return run(...values);
      },
    });
  });
  const store = openSqliteStore(path, 'default', now, ['ticket/']);
  for (const key of ['secret/a', 'ticket/a', 'tickets', 'ended-session/ticket/']) await store.put(key, one);
  const [normal, full] = [1, 2];
  assert.deepEqual(written, [
    ['secret/a', 'wal', full, 1],
    ['ticket/a', 'wal', normal, 1],
    ['tickets', 'wal', full, 1],
    ['ended-session/ticket/', 'wal', full, 1],
  ]);
  assert.deepEqual((await store.list('')).map(({ key }) => key), ['ended-session/ticket/', 'secret/a', 'ticket/a', 'tickets']);
  await store.close();
});

test('a deleted value is in no byte of the file', async () => {
  const store = open();
  await store.put('a', new TextEncoder().encode('canary-that-was-deleted'));
  await store.put('b', new TextEncoder().encode('canary-that-stays'));
  await store.delete('a');
  await store.close();
  const file = readFileSync(path, 'latin1');
  assert.equal(file.includes('canary-that-was-deleted'), false);
  assert.equal(file.includes('canary-that-stays'), true);
});

test('records and their lifetimes outlive the process', async () => {
  const before = open();
  await before.put('for ever', one);
  await before.put('an hour', one, 3_600_000);
  await before.close();
  assert.equal(existsSync(`${path}-wal`), false);

  const after = open();
  assert.deepEqual((await after.list('')).map(({ key }) => key), ['an hour', 'for ever']);
  time += 3_600_000;
  assert.deepEqual((await after.list('')).map(({ key }) => key), ['for ever']);
  await after.close();
});

test('what has expired is taken out of the file once a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const store = open();
  await store.put('stays', one);
  await store.put('goes', one, 1_000);
  time += 1_000;
  t.mock.timers.tick(60_000);
  const keys = new DatabaseSync(path, { readOnly: true }).prepare('SELECT key FROM records').all().map((row) => row['key']);
  assert.deepEqual(keys, ['stays']);
  await store.close();
});

test('installations with different namespaces in one file do not see each other', async () => {
  const [first, second] = [open('first'), open('second')];
  await first.put('a', one);
  assert.equal(await second.get('a'), undefined);
  assert.deepEqual(await second.list(''), []);
  assert.equal(await second.take('a'), undefined);
  await second.delete('a');
  assert.deepEqual(await first.get('a'), one);
  await Promise.all([first.close(), second.close()]);
});

test('two processes on one file see each other’s records at once', async () => {
  const [first, second] = [open(), open()];
  await first.put('a', one);
  assert.deepEqual(await second.take('a'), one);
  assert.equal(await first.get('a'), undefined);
  await Promise.all([first.close(), second.close()]);
});
