/**
 * The proxy as a process of its own, `node src/main.ts serve`, watched from outside: what it holds, how much
 * memory it takes at its highest, and whether it still runs.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../src/operate/child-server.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { keyCredential } from '../kit/gateway.ts';
import { openTrace } from '../kit/planted.ts';
import type { Held } from './probe.ts';
import type { Closing } from './soak.ts';

const root = join(import.meta.dirname, '../..');
const startsWithinMs = 60_000;

/** What one start has compiled, the next need not. */
const compiled = mkdtempSync(join(tmpdir(), 'elicitgate-compiled-'));
process.once('exit', () => { rmSync(compiled, { recursive: true, force: true }); });

export interface Setup {
  /** Address of the upstream `main`. */
  readonly upstream: string;
  /** Further sections of the file, or others than the usual. */
  readonly file?: string;
  /** Where the file and the database lie; a fresh folder by default. */
  readonly folder?: string;
  readonly key?: string;
}

export interface Served {
  readonly origin: string;
  /** The MCP endpoint. */
  readonly url: string;
  /** The admin listener. */
  readonly admin: string;
  readonly folder: string;
  readonly pid: number;
  readonly held: () => Promise<Held>;
  /** Files and sockets that it has open. */
  readonly openFiles: () => number;
  /** Runs something and says how far resident memory rose above where it began, in MB. */
  readonly peak: (act: () => Promise<unknown>) => Promise<number>;
  readonly isRunning: () => boolean;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  readonly log: () => string;
}

/** Starts the proxy and waits until it is ready. It ends with the soak. */
export async function serve(t: Closing, setup: Setup): Promise<Served> {
  const folder = setup.folder ?? temporaryFolder(t);
  const [port, adminPort] = [await portOfOurOwn(), await portOfOurOwn()];
  const path = join(folder, 'elicitgate.yaml');
  writeFileSync(path, fileOf(setup, port, adminPort));
  const output = join(folder, 'output.log');
  const child = start(path, output);
  const { pid } = child;
  assert.ok(pid);
  const trace = openTrace();
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isRunning()) return;
    trace.keepDatabase(folder);
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
    trace.add(readFileSync(output));
  };
  t.after(() => end('SIGTERM'));
  const admin = `http://127.0.0.1:${adminPort}`;
  await ready(admin, isRunning, output);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    admin,
    folder,
    pid,
    held: () => ask(child),
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    peak: (act) => peakOf(pid, act),
    isRunning,
    kill: () => end('SIGKILL'),
    log: () => readFileSync(output, 'utf8'),
  };
}

export function temporaryFolder(t: Closing): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-soak-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  return folder;
}

/** Waits until something is so, and says after how many milliseconds it was. @throws when it does not come */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<number> {
  const since = performance.now();
  while (!(await isSo())) {
    if (performance.now() - since > withinMs) throw new Error(`after ${withinMs / 1_000} s still not: ${what}`);
    await delay(20);
  }
  return performance.now() - since;
}

function fileOf({ upstream, key, file = '' }: Setup, port: number, adminPort: number): string {
  const usual = {
    version: 'version: 1',
    server: `server: { listen: "127.0.0.1:${port}", admin: "127.0.0.1:${adminPort}", drain: 1s }`,
    identity: 'identity: { local: { user: ada } }',
    vault: `vault: { store: "sqlite:./elicitgate.db", keys: ["${key ?? generateKey()}"], cacheFor: 0s }`,
    limits: 'limits: { perUser: { submissions: 1000000/1m }, perAddress: { pages: 1000000/1m } }',
    credentials: keyCredential.trim(),
    upstreams: `upstreams: { main: { url: "${upstream}", rules: [{ tools: [paid], requires: [key] }] } }`,
  };
  const missing = Object.entries(usual).filter(([name]) => !new RegExp(`^${name}:`, 'm').test(file));
  return [...missing.map(([, section]) => section), file].join('\n');
}

let lastPort = 20_000 + Math.floor(Math.random() * 5_000);

/** Below those that the system gives to connections, of which there are so many here that one would take it before it is listened on. */
async function portOfOurOwn(): Promise<number> {
  for (;;) {
    lastPort += 1;
    const port = await freePort(lastPort).catch(() => undefined);
    if (port !== undefined) return port;
  }
}

function start(path: string, output: string): ChildProcess {
  const log = openSync(output, 'a');
  try {
    const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ELICITGATE|NODE_TEST)_/.test(name)));
    const args = ['--expose-gc', '--import', join(import.meta.dirname, 'probe.ts'), join(root, 'src/main.ts'), 'serve', '-c', path];
    return spawn(process.execPath, args, { stdio: ['ignore', log, log, 'ipc'], env: { ...own, NODE_COMPILE_CACHE: compiled } });
  } finally {
    closeSync(log);
  }
}

async function ready(admin: string, isRunning: () => boolean, output: string): Promise<void> {
  await until('ready', async () => {
    if (!isRunning()) throw new Error(`it ended at its start: ${readFileSync(output, 'utf8').trimEnd().split('\n').at(-1) ?? ''}`);
    return fetch(`${admin}/readyz`).then(({ ok }) => ok, () => false);
  }, startsWithinMs);
}

async function ask(child: ChildProcess): Promise<Held> {
  const answer = once(child, 'message') as Promise<[Held]>;
  child.send({});
  return (await answer)[0];
}

/** Linux keeps the highest resident memory since it was last told to forget it. */
async function peakOf(pid: number, act: () => Promise<unknown>): Promise<number> {
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const before = kilobytes('VmRSS');
  await act();
  return (kilobytes('VmHWM') - before) / 1024;
}
