/** The program as a user runs it: a child process, what it says on its two outputs, and how it ends. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { openTrace } from './planted.ts';

const root = join(import.meta.dirname, '../..');

export interface Program {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves as soon as standard output holds this. @throws when the program ends without having said it */
  readonly says: (what: RegExp) => Promise<RegExpExecArray>;
  /** The same for standard error. */
  readonly logs: (what: RegExp) => Promise<RegExpExecArray>;
  /** Signals the whole group, as a terminal does on Ctrl-C. */
  readonly signal: (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => void;
  /** Its exit code, or the signal that ended it. */
  readonly end: Promise<number | NodeJS.Signals>;
}

export interface ProgramOptions {
  readonly cwd?: string;
  /** Added to this environment, which is passed on without what was set for Elicitgate. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `node src/main.ts ARGS…` */
export function startElicitgate(args: readonly string[], options: ProgramOptions = {}): Program {
  return start(process.execPath, [join(root, 'src/main.ts'), ...args], options);
}

/** `npm run SCRIPT -- ARGS…`, in the project's folder. */
export function startScript(script: string, args: readonly string[]): Program {
  return start('npm', ['run', '--silent', script, '--', ...args], { cwd: root });
}

/** Runs it to its end. */
export async function runElicitgate(args: readonly string[], options: ProgramOptions = {}) {
  const program = startElicitgate(args, options);
  const code = await program.end;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

function start(command: string, args: readonly string[], { cwd, env }: ProgramOptions): Program {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ELICITGATE|DEMO|NODE_TEST)_/.test(name)));
  // A group of its own, so that a signal to it does not reach the tests.
  const child = spawn(command, args, { cwd, env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const heard = new EventEmitter().setMaxListeners(0);
  const said = { stdout: '', stderr: '' };
  const trace = openTrace();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += stripVTControlCharacters(text);
      trace.add(text);
      heard.emit('more');
    });
  }
  let isOver = false;
  const end = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    heard.emit('more');
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const listen = async (name: keyof typeof said, what: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = what.exec(said[name]);
      if (match !== null) return match;
      if (isOver) throw new Error(`it ended without saying ${String(what)}:\n${said.stdout}\n${said.stderr}`);
      await once(heard, 'more');
    }
  };
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    says: (what) => listen('stdout', what),
    logs: (what) => listen('stderr', what),
    signal(signal) {
      if (child.pid !== undefined && !isOver) process.kill(-child.pid, signal);
    },
    end,
  };
}
