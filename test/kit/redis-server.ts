/** A Redis of the test's own, from Debian's package: a free port, a data folder that goes with the test, and its process in the test's hands. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../src/operate/child-server.ts';
import { findProgram, type DatabaseServer } from './database-server.ts';

/** The path of an installed Redis, if there is one. */
export function findRedis(): string | undefined {
  return findProgram('redis-server');
}

/** @param args further settings, as on its command line; by default every write is in its append-only file before it is acknowledged */
export async function startRedis(args: readonly string[] = ['--appendonly', 'yes', '--appendfsync', 'always']): Promise<DatabaseServer> {
  const program = findRedis();
  if (program === undefined) throw new Error('no redis-server found: install Debian’s package "redis-server"');
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-redis-'));
  const port = await freePort();
  const begin = async (): Promise<ChildProcess> => {
    const child = spawn(program, ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('Ready to accept connections')) break;
    child.stdout.resume();
    if (child.exitCode !== null) throw new Error('Redis did not start');
    return child;
  };
  let child = await begin();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await exit;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      child = await begin();
    },
    signal: (signal) => { child.kill(signal); },
    async close() {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
