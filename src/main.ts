/**
 * The process edge: command line, signals, exit codes. The only file that touches `process`. Exit codes:
 * 0 done, 1 failed while running, 2 the command line or the file is wrong.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Edge } from './app.ts';
import type { Config } from './config/config.ts';
import type { ExplainOptions } from './operate/explain.ts';
import { generateKey, writeKeyFile } from './operate/key-file.ts';
import { wrapHelp } from './operate/wrap-help.ts';

const explainHelp = `\nExample: elicitgate explain -c elicitgate.yaml --tool search --arguments '{"depth": "deep"}'`;

const done = 0;
const failedWhileRunning = 1;
const wrongInput = 2;

const version = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;

const edge: Edge = {
  stdout(text) {
    if (!process.stdout.writable) throw new Error('standard output is closed');
    process.stdout.write(text);
  },
  logTo: {
    write(line: string) {
      if (process.stderr.writable) process.stderr.write(line);
    },
  },
  now: Date.now,
  signalGroup(pid, signal) {
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody of it is left.
    }
  },
};
// A reader that went away is noticed by `writable`; without these it would end the process.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

interface FileOptions {
  readonly config?: readonly string[];
}

function commandLine(): Command {
  const program = new Command('elicitgate')
    .description('Asks people for keys on a web page, in front of an MCP server that nobody has to change.')
    .version(version)
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(run elicitgate --help for the commands)');
  // The default command gets whatever is no command, too.
  const serving = withFile(program.command('serve', { isDefault: true }).description('run the proxy (without a command, too)')).allowExcessArguments();
  serving.action(exitWith((options: FileOptions) => (serving.args.length === 0 ? serve(options) : refuseCommand(serving.args.join(' ')))));
  withFile(program.command('check').description('say what is wrong with a file, or what it means'))
    .option('--offline', 'do not ask the upstreams and issuers')
    .option('--json', 'print JSON')
    .action(exitWith(check));
  withFile(program.command('explain').description('say why one call would pass, or what it would be asked for'))
    .option('--upstream <name>', 'the upstream; may be left out when there is only one')
    .option('--tool <name>', 'the tool that is called')
    .option('--resource <uri>', 'or the resource that is read')
    .option('--prompt <name>', 'or the prompt that is got')
    .option('--arguments <json>', 'the arguments of the call, as a JSON object')
    .option('--claims <json>', 'the claims of the caller, as a JSON object')
    .option('--json', 'print JSON')
    .addHelpText('after', explainHelp)
    .action(exitWith(explain));
  program
    .command('keygen')
    .description('print a new key, or write it into a new file that only you can read')
    .option('--out <file>', 'the file to write')
    .action(exitWith((options: { readonly out?: string }) => keygen(options.out)));
  withFile(program.command('rekey').description('seal every record again under the first key, while the proxy runs'))
    .option('--json', 'print JSON')
    .action(exitWith(rekey));
  withFile(program.command('migrate').description('make the tables of PostgreSQL ready (for vault.migrate: false)')).action(exitWith(migrate));
  program
    .command('schema')
    .description('print the JSON Schema of the file, for editors')
    .action(exitWith(schema));
  program
    .command('demo')
    .description('a real MCP server, the proxy and a client in one terminal: try the whole flow in a browser')
    .option('--proxy-only', 'without the client: add the proxy to your own')
    .option('--port <number>', 'loopback port of the proxy; 0 for any free one', port, 8080)
    .option('--data <folder>', 'folder of the key file and the database', './data')
    .action(exitWith(demo));
  const wrapping = program
    .command('wrap')
    .description('for a client’s own configuration: speaks stdio, runs a server behind it, asks for its keys on a page')
    .argument('<command...>', 'the command that runs the server, with its own options; or the URL of one')
    .passThroughOptions()
    .option('--env <name>', 'a variable that the person gives; may be given several times', several)
    .option('--header <name>', 'a header that the person gives, for a URL; may be given several times', several)
    .option('--catalogue <file>', 'for a URL that answers nobody without the header: what it lists, in a JSON file')
    .addHelpText('after', wrapHelp);
  wrapping.action((words: readonly string[], options: Omit<WrapCommandOptions, 'words'>) => exitWith(wrap)({ ...options, words }));
  return program;
}

function withFile(command: Command): Command {
  return command.option('-c, --config <path>', 'a file or a folder of files; may be given several times (default: ./elicitgate.yaml)', (path: string, all: readonly string[] | undefined) => [...(all ?? []), path]);
}

function several(name: string, all: readonly string[] | undefined): readonly string[] {
  return [...(all ?? []), name];
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535) throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return value;
}

function refuseCommand(words: string): number {
  return complain([`This version has no command “${words}”. Run elicitgate --help for the commands.`], wrongInput);
}

async function serve(options: FileOptions): Promise<number> {
  const config = await load(options.config ?? []);
  if (config === undefined) return wrongInput;
  const { unbuilt } = await import('./config/unbuilt.ts');
  const missing = unbuilt(config);
  if (missing.length > 0) return complain(missing.map((part) => part.message), wrongInput);
  const { createApp } = await import('./app.ts');
  const app = await createApp(config, edge);
  if (!app.ok) return complain([app.error], wrongInput);
  // Told to stop while it is still starting, it stops as soon as it has started.
  const stopped = stopSignal();
  try {
    await app.value.listen();
  } catch (error) {
    await app.value.close();
    return complain([cannotListen(error, (port) => keyOfPort(config, port))], failedWhileRunning);
  }
  if (process.stderr.isTTY) {
    const { greeting } = await import('./operate/greeting.ts');
    process.stderr.write(greeting(config));
  }
  await stopped;
  await app.value.close();
  return done;
}

async function check(options: FileOptions & { readonly offline?: true; readonly json?: true }): Promise<number> {
  const { formatProblem } = await import('./config/problem.ts');
  const { loadConfig } = await import('./config/load.ts');
  const config = loadConfig(options.config ?? [], process.env);
  if (!config.ok) {
    if (options.json !== true) return complain(config.error.map(formatProblem), wrongInput);
    print(`${JSON.stringify({ valid: false, problems: config.error }, undefined, 2)}\n`);
    return wrongInput;
  }
  const { askAround, formatLive, formatReport, reportOn } = await import('./operate/check.ts');
  const report = reportOn(config.value);
  const live = options.offline === true ? undefined : await askAround(config.value, edge);
  if (options.json === true) print(`${JSON.stringify({ ...report, ...(live === undefined ? {} : { live }) }, undefined, 2)}\n`);
  else print(formatReport(report) + (live === undefined ? '' : formatLive(live)));
  return live === undefined || live.failures.length === 0 ? done : failedWhileRunning;
}

async function explain(options: FileOptions & ExplainOptions & { readonly json?: true }): Promise<number> {
  const config = await load(options.config ?? []);
  if (config === undefined) return wrongInput;
  const { explain, formatExplanation } = await import('./operate/explain.ts');
  const explained = explain(config, options);
  if (!explained.ok) return complain([explained.error], wrongInput);
  print(options.json === true ? `${JSON.stringify(explained.value, undefined, 2)}\n` : formatExplanation(explained.value));
  return done;
}

function keygen(out: string | undefined): number {
  const key = generateKey();
  if (out === undefined) {
    print(`${key}\n`);
    return done;
  }
  try {
    writeKeyFile(resolve(out), key);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST' && 'syscall' in error && error.syscall !== 'mkdir';
    return complain([isThere ? `${out} is there already, and a key that is overwritten is lost; choose another name.` : `${out} cannot be written (${reasonOf(error)}).`], failedWhileRunning);
  }
  process.stderr.write(`A new key was written to ${out}. Name it in the file: keys: ["\${file:${out}}"]\n`);
  return done;
}

async function rekey(options: FileOptions & { readonly json?: true }): Promise<number> {
  const config = await load(options.config ?? []);
  if (config === undefined) return wrongInput;
  const { formatRekey, isComplete, runRekey } = await import('./operate/rekey.ts');
  const report = await runRekey(config, Date.now, (records) => process.stderr.write(`${records} records …\n`));
  if (!report.ok) return complain([report.error], failedWhileRunning);
  print(options.json === true ? `${JSON.stringify(report.value, undefined, 2)}\n` : formatRekey(report.value));
  return isComplete(report.value) ? done : failedWhileRunning;
}

async function migrate(options: FileOptions): Promise<number> {
  const config = await load(options.config ?? []);
  if (config === undefined) return wrongInput;
  const { runMigrate } = await import('./operate/migrate.ts');
  const outcome = await runMigrate(config);
  if (!outcome.ok) return complain([outcome.error], failedWhileRunning);
  print(outcome.value);
  return done;
}

async function schema(): Promise<number> {
  const { jsonSchema } = await import('./config/json-schema.ts');
  print(`${JSON.stringify(jsonSchema(), undefined, 2)}\n`);
  return done;
}

interface DemoCommandOptions {
  readonly proxyOnly?: true;
  readonly port: number;
  readonly data: string;
}

async function demo({ proxyOnly, port: wanted, data }: DemoCommandOptions): Promise<number> {
  const { playDemo, startProxyOnly } = await import('./operate/demo.ts');
  const options = { folder: resolve(data), port: wanted, env: process.env, execPath: process.execPath, version, edge, print };
  const stop = new AbortController();
  const stopped = stopSignal();
  void stopped.then(() => { stop.abort(); });
  try {
    if (proxyOnly !== true) return (await playDemo(options, stop.signal)) ? done : failedWhileRunning;
    const running = await startProxyOnly(options);
    await stopped;
    await running.close();
    return done;
  } catch (error) {
    return stop.signal.aborted ? done : complain([cannotListen(error, () => 'with --port')], failedWhileRunning);
  }
}

interface WrapCommandOptions {
  readonly words: readonly string[];
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly catalogue?: string;
}

async function wrap({ words, env = [], header = [], catalogue }: WrapCommandOptions): Promise<number> {
  const { runWrap } = await import('./operate/wrap.ts');
  const stop = new AbortController();
  void stopSignal().then(() => { stop.abort(); });
  try {
    const options = { env, headers: header, words, ...(catalogue === undefined ? {} : { catalogue }), environ: process.env, platform: process.platform, homeFolder: homedir(), workingFolder: process.cwd(), input: process.stdin, edge };
    const outcome = await runWrap(options, stop.signal);
    return outcome.ok ? done : complain([outcome.error], wrongInput);
  } catch (error) {
    return complain([cannotListen(error, () => 'by starting this again')], failedWhileRunning);
  } finally {
    // A client that is told to stop reading keeps its end open; nothing more is read from it.
    process.stdin.destroy();
  }
}

async function load(paths: readonly string[]): Promise<Config | undefined> {
  const { loadConfig } = await import('./config/load.ts');
  const { formatProblem } = await import('./config/problem.ts');
  const config = loadConfig(paths, process.env);
  if (config.ok) return config.value;
  complain(config.error.map(formatProblem), wrongInput);
  return undefined;
}

function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    // Told again, it goes on closing; a person who presses Ctrl-C twice wants it ended now.
    process.on('SIGTERM', () => { stop(); });
    process.once('SIGINT', () => { stop(); });
  });
}

/** Where the file says which port this is. */
function keyOfPort({ server: { admin, listen } }: Config, port: number | undefined): string {
  return `in ${admin !== false && admin.port === port && listen.port !== port ? 'server.admin' : 'server.listen'}`;
}

/** @param choose says where another port is chosen */
function cannotListen(error: unknown, choose: (port: number | undefined) => string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const { port: taken } = (error ?? {}) as { readonly port?: number };
  if (code === 'EADDRINUSE') return `Port ${taken ?? ''} is in use by another program; choose another ${choose(taken)}.`;
  if (code === 'EACCES') return `Port ${taken ?? ''} may not be used without more rights; choose one above 1023 ${choose(taken)}.`;
  return error instanceof Error ? error.message : String(error);
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

function complain(sentences: readonly string[], code: number): number {
  process.stderr.write(`${sentences.join('\n')}\n`);
  return code;
}

function print(text: string): void {
  process.stdout.write(text);
}

/** What an action answers is the exit code; what it holds open (a server, a child) it has closed by then. */
function exitWith<T>(action: (options: T) => number | Promise<number>): (options: T) => Promise<void> {
  return async (options) => {
    process.exitCode = await action(options);
  };
}

try {
  await commandLine().parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? done : wrongInput;
}
