/** A PostgreSQL of the test's own, from Debian's package: a free port, a fresh cluster, its process in the test's hands. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../src/operate/child-server.ts';
import { findProgram, type DatabaseServer } from './database-server.ts';

/** The path of the newest installed server's `initdb`, if there is one. */
export function findPostgres(): string | undefined {
  return findProgram('initdb', globSync('/usr/lib/postgresql/*/bin').sort().reverse());
}

/** It refuses to run as root. */
const asRoot = process.getuid?.() === 0;
const [uid, gid] = ['65534', '65534'];

function unprivileged(program: string, args: readonly string[]): [string, string[]] {
  return asRoot ? ['setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', program, ...args]] : [program, [...args]];
}

/** Making a cluster takes longest, so each test process makes one and copies it. */
let template: string | undefined;

function makeTemplate(initdb: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-postgres-'));
  process.once('exit', () => { rmSync(folder, { recursive: true, force: true }); });
  if (asRoot) chownSync(folder, Number(uid), Number(gid));
  const [program, args] = unprivileged(initdb, ['-D', join(folder, 'data'), '-U', 'elicitgate', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  return join(folder, 'data');
}

/** @param settings further ones, as `name=value` */
export async function startPostgres(settings: readonly string[] = []): Promise<DatabaseServer> {
  const initdb = findPostgres();
  if (initdb === undefined) throw new Error('no PostgreSQL found: install Debian’s package "postgresql"');
  template ??= makeTemplate(initdb);
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-postgres-'));
  const data = join(folder, 'data');
  cpSync(template, data, { recursive: true, preserveTimestamps: true });
  for (const path of [folder, data, ...globSync('**/*', { cwd: data }).map((name) => join(data, name))]) {
    chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
    if (asRoot) chownSync(path, Number(uid), Number(gid));
  }
  const port = await freePort();
  const options = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=100', 'log_min_messages=log', 'shared_buffers=16MB', ...settings];
  const begin = async (): Promise<ChildProcess> => {
    const [program, args] = unprivileged(join(dirname(initdb), 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])]);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    for await (const line of createInterface({ input: child.stderr })) {
      said += `${line}\n`;
      if (line.includes('ready to accept connections')) break;
    }
    child.stderr.resume();
    if (!said.includes('ready to accept connections')) throw new Error(`PostgreSQL did not start:\n${said}`);
    return child;
  };
  let child = await begin();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    everyProcess(child, 'SIGCONT');
    // A killed parent leaves its children for a moment, and a new one refuses to start beside them.
    if (signal === 'SIGKILL') everyProcess(child, 'SIGKILL');
    else child.kill(signal);
    await exit;
  };
  return {
    url: `postgres://elicitgate@127.0.0.1:${port}/postgres`,
    port,
    folder,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      child = await begin();
    },
    signal: (signal) => { everyProcess(child, signal); },
    async close() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function everyProcess(child: ChildProcess, signal: NodeJS.Signals): void {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' });
  for (const pid of [...stdout.trim().split(/\s+/).filter((text) => text !== '').map(Number), child.pid]) {
    try {
      if (pid !== undefined) process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  }
}
