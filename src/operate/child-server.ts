/**
 * A server in a child process of ours, ready as soon as it has said where it listens.
 *
 * Promises: the caller gets the child only after its ready line; its output is always read, so a
 * talkative child never blocks on a full pipe; `close` ends this child by its own handle, waits until
 * it is gone, and kills it when it does not go by itself. Refuses: to hand the child any environment
 * but the one that it was given.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

export interface ChildServer {
  readonly pid: number;
  /** The match of the ready line. */
  readonly ready: RegExpMatchArray;
  readonly close: () => Promise<void>;
}

export interface ChildServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Matches the line of standard output or standard error that says the server listens. */
  readonly ready: RegExp;
  /** How long the child may take to get ready. */
  readonly startWithinMs: number;
}

const closeWithinMs = 5_000;
const quotedLines = 20;

/**
 * Starts a server as a child process.
 * @returns the running child, after its ready line
 * @throws Error, with the child's last lines, when it ends or stays silent before it is ready
 */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const child = spawn(options.command, options.args, { env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const close = () => endChild(child);
  try {
    const ready = await readyLine(child, options);
    return { pid: child.pid ?? 0, ready, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/**
 * Finds a port that is free now. Another process may take it before it is used: a caller that can
 * should read back where its server really listens.
 * @param wanted the one that is to be free; 0 for any
 * @throws the system's error, with its `port`, when that one is in use
 */
export async function freePort(wanted = 0): Promise<number> {
  const probe = createServer().listen(wanted, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return address.port;
}

function readyLine(child: ChildProcess, options: ChildServerOptions): Promise<RegExpMatchArray> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer);
      reject(new Error([`${options.command} ${options.args.join(' ')}: ${what}`, ...lines].join('\n  ')));
    };
    const timer = setTimeout(() => fail(`not ready after ${options.startWithinMs} ms`), options.startWithinMs);
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => fail(`ended (${signal ?? code}) before it was ready`));
    const read = (line: string) => {
      if (lines.push(line) > quotedLines) lines.shift();
      const match = options.ready.exec(line);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match);
    };
    for (const output of [child.stdout, child.stderr]) {
      if (output !== null) createInterface({ input: output }).on('line', read);
    }
  });
}

async function endChild(child: ChildProcess): Promise<void> {
  const isGone = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  if (isGone()) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), closeWithinMs);
  await exit;
  clearTimeout(timer);
}
