/** Keys: 32 random bytes in base64. */
import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, constants, copyFileSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const keyBytes = 32;

export function generateKey(): string {
  return randomBytes(keyBytes).toString('base64');
}

export function isKey(text: string): boolean {
  return Buffer.from(text, 'base64').length === keyBytes;
}

/**
 * Writes a new key into a new file that only its owner can read.
 * @throws the file system's error; EEXIST when the file is there, because a key that is overwritten is lost
 */
export function writeKeyFile(path: string, key: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // It gets its name when it is whole: another program that finds it reads all of it.
  const unnamed = `${path}.${randomUUID()}`;
  const file = openSync(unnamed, 'wx', 0o600);
  try {
    writeSync(file, `${key}\n`);
    // What is sealed under a key is on disk for good, so the key is there first.
    fsyncSync(file);
    name(unnamed, path);
  } finally {
    closeSync(file);
    rmSync(unnamed, { force: true });
  }
}

function name(unnamed: string, path: string): void {
  try {
    linkSync(unnamed, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw error;
    // Some file systems know no links.
    copyFileSync(unnamed, path, constants.COPYFILE_EXCL);
  }
}

/** The key in a file, made once where there is none. @returns whether it was made now */
export function readOrMakeKeyFile(path: string): { readonly key: string; readonly isNew: boolean } {
  const made = generateKey();
  try {
    writeKeyFile(path, made);
    return { key: made, isNew: true };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return { key: readFileSync(path, 'utf8').trim(), isNew: false };
  }
}
