import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { generateKey, readOrMakeKeyFile, writeKeyFile } from '../../src/operate/key-file.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'elicitgate-key-'));
  path = join(folder, 'data', 'elicitgate.key');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('a key is 32 random bytes in base64', () => {
  const keys = Array.from({ length: 50 }, generateKey);
  assert.equal(new Set(keys).size, 50);
  for (const key of keys) {
    assert.equal(Buffer.from(key, 'base64').length, 32);
    assert.equal(Buffer.from(key, 'base64').toString('base64'), key);
  }
});

test('a key file can be read by its owner only, in a folder that only she can enter', () => {
  const key = generateKey();
  writeKeyFile(path, key);
  assert.equal(readFileSync(path, 'utf8'), `${key}\n`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'data')).mode & 0o777, 0o700);
});

test('a key is never overwritten, because what it sealed would be lost', () => {
  writeKeyFile(path, 'first');
  assert.throws(() => { writeKeyFile(path, 'second'); }, { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'first\n');
});

test('a key file is made once and read from then on', () => {
  const made = readOrMakeKeyFile(path);
  assert.equal(made.isNew, true);
  assert.deepEqual(readOrMakeKeyFile(path), { key: made.key, isNew: false });
  writeFileSync(path, `  ${made.key}\r\n`);
  assert.deepEqual(readOrMakeKeyFile(path), { key: made.key, isNew: false });
});

test('a folder that cannot be made is an error and leaves nothing behind', () => {
  writeFileSync(join(folder, 'data'), '');
  assert.throws(() => readOrMakeKeyFile(path), { code: 'ENOTDIR' });
  assert.equal(existsSync(path), false);
});
