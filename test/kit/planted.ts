/**
 * Secrets that tests plant, and the trace in which none may be found afterwards. While the whole suite runs
 * (test/run.ts), each proxy leaves its log, its audit trail and its database files in one folder, and each
 * planted secret is noted beside it; at the end everything is searched for every secret. What a test puts
 * into a log or a file on purpose is not planted by these functions.
 */
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spellingsFound } from './canary.ts';

const folder = process.env['ELICITGATE_TRACE'];

/** @returns the secret itself, which from now on must not be found in any trace */
export function planted(secret: string): string {
  if (folder !== undefined) appendFileSync(join(folder, 'planted'), `${JSON.stringify(secret)}\n`);
  return secret;
}

export interface Trace {
  /** What a proxy has said. */
  readonly add: (text: string | Buffer) => void;
  /** The database files that lie in a proxy's folder now. */
  readonly keepDatabase: (proxyFolder: string) => void;
}

/** The trace of one proxy; outside of a run of the suite nothing is kept. */
export function openTrace(): Trace {
  if (folder === undefined) return { add: () => undefined, keepDatabase: () => undefined };
  const left = join(folder, 'left');
  mkdirSync(left, { recursive: true });
  const own = mkdtempSync(join(left, 'proxy-'));
  return {
    add: (text) => { appendFileSync(join(own, 'said'), text); },
    keepDatabase(proxyFolder) {
      if (!existsSync(proxyFolder)) return;
      for (const name of readdirSync(proxyFolder)) if (/\.db\b/.test(name)) copyFileSync(join(proxyFolder, name), join(own, name));
    },
  };
}

export interface Search {
  readonly files: number;
  readonly bytes: number;
  readonly secrets: number;
  /** `FILE holds SECRET (SPELLINGS)` */
  readonly hits: readonly string[];
}

/** Looks for every planted secret in everything that was left. @param trace the folder that ELICITGATE_TRACE named */
export function searchTrace(trace: string): Search {
  const list = join(trace, 'planted');
  const secrets = [...new Set(existsSync(list) ? readFileSync(list, 'utf8').trimEnd().split('\n') : [])].map((line) => JSON.parse(line) as string);
  const left = join(trace, 'left');
  const files = existsSync(left) ? readdirSync(left, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)) : [];
  let bytes = 0;
  const hits = files.flatMap((file) => {
    const content = readFileSync(file);
    bytes += content.length;
    return secrets.flatMap((secret) => {
      const spellings = spellingsFound(secret, content);
      return spellings.length === 0 ? [] : [`${file} holds ${JSON.stringify(secret)} (${spellings.join(', ')})`];
    });
  });
  return { files: files.length, bytes, secrets: secrets.length, hits };
}
