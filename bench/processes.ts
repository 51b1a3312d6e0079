/**
 * Child processes of the bench: started, waited for, measured from outside, ended by their own handle. However
 * the bench ends, no child and no temporary folder of its own outlives it.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Process {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly close: () => Promise<void>;
}

const children = new Set<ChildProcess>();
const folders: string[] = [];
process.once('exit', () => {
  for (const child of children) child.kill();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A new folder that is removed when the bench ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-bench-'));
  folders.push(folder);
  return folder;
}

/** The path of a module beside this one. */
export function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

/**
 * Starts a program that will listen on `port`, and waits until it does.
 * @param talks whether it is a Node program that answers over IPC too
 * @throws Error when it ends first, or does not listen within ten seconds
 */
export async function startListener(
  command: string,
  args: readonly string[],
  port: number,
  talks = false,
): Promise<Process> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', talks ? 'ipc' : 'ignore'] });
  const running = own(child, command);
  await listening(running, port);
  return running;
}

/** Starts a module of ours that only talks over IPC. */
export function startTalker(file: string, execArgv: readonly string[] = []): Process {
  return own(fork(file, { execArgv: [...execArgv], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }), file);
}

/**
 * Sends a message and gives back the next one that comes.
 * @throws Error when the process ends instead
 */
export async function ask<T>(to: Process, message: object): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(to.child, 'exit', { signal }).then(() => {
    throw new Error(`${to.child.spawnargs.join(' ')} ended instead of answering`);
  });
  try {
    const answer = once(to.child, 'message', { signal }) as Promise<[T]>;
    to.child.send(message);
    const [value] = await Promise.race([answer, ended]);
    return value;
  } finally {
    over.abort();
    ended.catch(() => {});
  }
}

/** Processor time that a process has used so far, user and system, in milliseconds (10 ms steps). */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Waits until a port accepts connections, for at most ten seconds. */
async function listening(process: Process, port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (process.child.exitCode !== null) break;
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await delay(25);
    } finally {
      socket.destroy();
    }
  }
  await process.close();
  throw new Error(`${process.child.spawnargs.join(' ')} does not listen on port ${port}`);
}

function own(child: ChildProcess, name: string): Process {
  if (child.pid === undefined) throw new Error(`${name} could not be started`);
  children.add(child);
  child.once('exit', () => children.delete(child));
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await exit;
    clearTimeout(timer);
  };
  return { child, pid: child.pid, close };
}
