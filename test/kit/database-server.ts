/** What tests do with a database server of their own, whichever it is. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface DatabaseServer {
  /** As it stands under `vault.store`. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  /** The same, and then it starts anew on its port with what is on its disk. */
  readonly restart: () => Promise<void>;
  /** SIGSTOP holds it, SIGCONT lets it go on. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  readonly close: () => Promise<void>;
}

/** @param folders searched beside those in PATH */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const all = [...folders, ...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')];
  return all.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The reason to leave a test out where its database is not installed; under CI=true nothing may be left out. */
export function skipWithout(debian: string, found: string | undefined): string | false {
  if (found !== undefined) return false;
  const skip = `no ${debian} found: install Debian’s package "${debian}"`;
  if (process.env['CI'] === 'true') throw new Error(skip);
  return skip;
}
