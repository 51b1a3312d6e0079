/**
 * An empty home folder for one process: its own, inside a folder that only its group may enter, so that
 * other processes under the same user number cannot look into it. Gone with the process.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Home {
  readonly path: string;
  /** For temporary files; inside the home. */
  readonly temporary: string;
  remove(): Promise<void>;
}

/** @throws the file system's error */
export function makeHome(owner: { readonly uid: number; readonly gid: number } | undefined): Home {
  const outer = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  const path = join(outer, 'home');
  const temporary = join(path, 'tmp');
  for (const folder of [path, temporary]) {
    mkdirSync(folder, { mode: 0o700 });
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  }
  if (owner !== undefined) {
    // May enter, not look around.
    chmodSync(outer, 0o710);
    chownSync(outer, -1, owner.gid);
  }
  return {
    path,
    temporary,
    async remove() {
      await rm(outer, { recursive: true, force: true });
    },
  };
}
