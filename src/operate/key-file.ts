/** Keys: 32 random bytes in base64. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
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
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${key}\n`);
    // What is sealed under a key is on disk for good, so the key is there first.
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
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
