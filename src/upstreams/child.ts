/**
 * One program as the peer of a conversation: messages on standard input and output, one a line (MCP
 * 2025-11-25, basic/transports, stdio). It runs in a process group of its own, with an environment made
 * from nothing, an empty home, and no descriptor but its three pipes. A line without an end, or a pipe that
 * nobody empties, ends it. When it ends, so does its whole group: SIGTERM, then SIGKILL.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { makeHome, type Home } from './child-home.ts';
import { LineSplitter } from './lines.ts';
import { UpstreamFailure, type Peer, type PeerEvents } from './peer.ts';
import type { Say } from './program-words.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Its home, unless given. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /** What must not reach the log; more may come to it. */
  readonly secrets: ReadonlySet<string>;
}

export type SignalGroup = (pid: number, signal: 'SIGTERM' | 'SIGKILL') => void;

/** Where programs are looked for, unless `env` says otherwise. */
export const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const maxLineBytes = 32 * 1024 * 1024;
const maxErrorLineBytes = 64 * 1024;
/** Written and not read yet. */
const maxUnreadBytes = 64 * 1024 * 1024;
const endWithinMs = 2_000;
/** A process that left the group may keep a pipe open for ever. */
const drainWithinMs = 1_000;

export function startChild(program: Program, say: Say, signalGroup: SignalGroup, events: PeerEvents): Peer {
  const failed = (cause: unknown): UpstreamFailure => notStarted(cause, program, say);
  let home: Home;
  try {
    home = makeHome(program.runAs);
  } catch (cause) {
    return stillborn(events, failed(cause));
  }
  const env = { PATH: usualPath, HOME: home.path, TMPDIR: home.temporary, ...program.env };
  let child: ChildProcess;
  try {
    child = spawn(program.command, program.args, { cwd: program.cwd ?? home.path, env, ...program.runAs, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  } catch (cause) {
    void home.remove();
    return stillborn(events, failed(cause));
  }
  return attach(child, home, program, say, signalGroup, events);
}

function attach(child: ChildProcess, home: Home, program: Program, say: Say, signalGroup: SignalGroup, events: PeerEvents): Peer {
  const { secrets } = program;
  const gone = Promise.withResolvers<void>();
  let isClosing = false;
  let killTimer: NodeJS.Timeout | undefined;
  const isRunning = (): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const signal = (name: 'SIGTERM' | 'SIGKILL'): void => { if (child.pid !== undefined) signalGroup(child.pid, name); };
  const close = (): Promise<void> => {
    if (isClosing) return gone.promise;
    isClosing = true;
    child.stdin?.end();
    if (isRunning()) {
      signal('SIGTERM');
      killTimer = setTimeout(() => { signal('SIGKILL'); }, endWithinMs);
    }
    return gone.promise;
  };
  const breakOff = (code: string): void => {
    events.ended(new UpstreamFailure('unreachable', code, 'The server behind this proxy gave no usable answer.'));
    void close();
  };
  const output = new LineSplitter(maxLineBytes, (line) => { events.message(line); });
  const errors = new LineSplitter(maxErrorLineBytes, (line) => { say(line, 'stderr', secrets); });
  child.stdout?.on('data', (chunk: Buffer) => { if (!isClosing && !output.push(chunk)) breakOff('ENDLESS_LINE'); });
  child.stderr?.on('data', (chunk: Buffer) => { errors.push(chunk); });
  // A program that is gone breaks the pipe; its end says so.
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on('error', () => undefined);
  let isOver = false;
  const over = (failure: UpstreamFailure): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(killTimer);
    clearTimeout(drainTimer);
    events.ended(failure);
    void home.remove().catch(() => undefined).finally(gone.resolve);
  };
  let drainTimer: NodeJS.Timeout | undefined;
  const exited = (): void => { over(new UpstreamFailure('unreachable', 'EXITED', 'The server behind this proxy ended before it answered; its operator can see why in the log.')); };
  child.once('error', (cause) => { if (child.pid === undefined) over(notStarted(cause, program, say)); });
  child.once('exit', () => {
    // What it started and left behind goes with it. Its last words may still be in the pipe.
    signal('SIGKILL');
    drainTimer = setTimeout(exited, drainWithinMs);
  });
  child.once('close', () => {
    errors.end();
    exited();
  });
  return {
    send(message) {
      if (isClosing || child.stdin === null) return;
      child.stdin.write(`${message}\n`);
      if (child.stdin.writableLength > maxUnreadBytes) breakOff('READS_NOTHING');
    },
    close,
  };
}

function stillborn(events: PeerEvents, failure: UpstreamFailure): Peer {
  queueMicrotask(() => { events.ended(failure); });
  return { send: () => undefined, close: () => Promise.resolve() };
}

/** The log names what was looked for and where: a command off the PATH is the usual mistake. */
function notStarted(cause: unknown, { command, cwd, env, secrets }: Program, say: Say): UpstreamFailure {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'UNKNOWN';
  const where = command.includes('/') ? '' : `, looked for on the PATH ${env['PATH'] ?? usualPath} (env: { PATH: … } sets another)`;
  say(`${command} cannot be started: ${code}${where}${cwd === undefined ? '' : `, in ${cwd}`}`, 'start', secrets);
  return new UpstreamFailure('unreachable', `START_${code}`, 'The program behind this proxy cannot be started; its operator can see why in the log.', { cause });
}
