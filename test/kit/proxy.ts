/**
 * Elicitgate itself, in this process, as `serve` would run it: a file is loaded, an app is made and listens
 * on a free loopback port. Everything that it logs and audits is kept for the test to search.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { unbuilt } from '../../src/config/unbuilt.ts';
import { freePort } from '../../src/operate/child-server.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { openTrace } from './planted.ts';
import { signalGroup } from './signal-group.ts';

export interface AuditLine {
  readonly audit: string;
  readonly [key: string]: unknown;
}

export interface RunningProxy {
  readonly origin: string;
  /** Folder of the file; relative paths in it, such as the database's, lie here. */
  readonly folder: string;
  /** Every line of the log and of the audit trail so far. */
  readonly log: readonly string[];
  readonly audit: readonly AuditLine[];
  /** Moves the proxy's clock forward, in milliseconds; timers of the process stay as they are. */
  pass(ms: number): void;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** Where the file and the database lie; a fresh folder, removed on close, by default. */
  readonly folder?: string;
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another port than a free one, for restarts. */
  readonly port?: number;
}

/**
 * @param file YAML without `version`, `server`, `identity` and `vault`, or with those that matter to the
 *   test. `${ORIGIN}`, `${LISTEN}` and `${KEY}` stand for the proxy's own.
 */
export async function startProxy(file: string, options: ProxyOptions = {}): Promise<RunningProxy> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'elicitgate-'));
  const port = options.port ?? (await freePort());
  const path = join(folder, 'elicitgate.yaml');
  writeFileSync(path, withDefaults(file));
  const env = { LISTEN: `127.0.0.1:${port}`, ORIGIN: `http://127.0.0.1:${port}`, KEY: options.key ?? generateKey(), ...options.env };
  const config = loadConfig([path], env);
  assert.ok(config.ok, config.ok ? '' : config.error.map(formatProblem).join('\n'));
  assert.deepEqual(unbuilt(config.value), []);
  const log: string[] = [];
  const audit: AuditLine[] = [];
  const trace = openTrace();
  let offset = 0;
  const app = await createApp(config.value, {
    stdout: (line) => {
      audit.push(JSON.parse(line) as AuditLine);
      trace.add(line);
    },
    logTo: {
      write: (line: string) => {
        log.push(line);
        trace.add(line);
      },
    },
    now: () => Date.now() + offset,
    signalGroup,
  });
  assert.ok(app.ok, app.ok ? '' : app.error);
  await app.value.listen();
  return {
    origin: `http://127.0.0.1:${port}`,
    folder,
    log,
    audit,
    pass(ms) { offset += ms; },
    async close() {
      trace.keepDatabase(folder);
      await app.value.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withDefaults(file: string): string {
  const defaults = {
    version: 'version: 1',
    server: 'server: { listen: "${LISTEN}", admin: false, drain: 1s }',
    identity: 'identity: { local: { user: ada } }',
    vault: 'vault: { store: sqlite:./elicitgate.db, keys: ["${KEY}"] }',
    log: 'log: { level: debug }',
  };
  const missing = Object.entries(defaults).filter(([name]) => !new RegExp(`^${name}:`, 'm').test(file));
  return `${missing.map(([, line]) => line).join('\n')}\n${file}`;
}

/** What a person sees who opens a link: status and HTML. */
export async function openPage(url: string, headers: Readonly<Record<string, string>> = {}): Promise<{ readonly status: number; readonly html: string; readonly headers: Headers }> {
  const response = await fetch(url, { headers, redirect: 'manual' });
  return { status: response.status, html: await response.text(), headers: response.headers };
}

/** Opens a link and sends its form, as a browser would. */
export async function submitPage(url: string, fields: Readonly<Record<string, string>>): Promise<{ readonly status: number; readonly html: string; readonly headers: Headers }> {
  const page = await openPage(url);
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1];
  assert.ok(csrf, `no form at ${url}: ${page.html}`);
  const response = await fetch(url, { method: 'POST', redirect: 'manual', headers: { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams({ csrf, action: 'give', ...fields }) });
  return { status: response.status, html: await response.text(), headers: response.headers };
}
