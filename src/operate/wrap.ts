/**
 * `elicitgate wrap`: one line in a client's own configuration. Speaks stdio to the client; behind it run the
 * proxy, for one person on a loopback port, and the server that was named. Key file and database lie in the
 * person's data folder, by the command's name and digest, so that several wraps do not meet and a restart
 * finds what was given. Nothing but messages goes to standard output.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { createApp, type Edge } from '../app.ts';
import type { Config } from '../config/config.ts';
import { finish } from '../config/finish.ts';
import { fileSchema } from '../config/schema.ts';
import { err, ok, type Result } from '../errors.ts';
import { runBridge } from './bridge.ts';
import { freePort } from './child-server.ts';
import { isKey, readOrMakeKeyFile } from './key-file.ts';

export interface WrapOptions {
  /** Variables that are asked for. */
  readonly env: readonly string[];
  /** Headers that are asked for. */
  readonly headers: readonly string[];
  /** The command and its arguments, or one URL. */
  readonly words: readonly string[];
  readonly environ: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly homeFolder: string;
  readonly workingFolder: string;
  readonly input: Readable;
  readonly edge: Edge;
}

const firstPort = 49_152;
const ports = 16_000;
const envName = /^[A-Za-z_]\w*$/;
const headerName = /^[A-Za-z0-9-]+$/;

/**
 * Runs until the client closes its end.
 * @param signal ends it early
 * @returns nothing, or one sentence on what is wrong with the command line
 * @throws what a port that cannot be listened on throws
 */
export async function runWrap(options: WrapOptions, signal: AbortSignal): Promise<Result<undefined, string>> {
  const fault = faultOf(options);
  if (fault !== undefined) return err(fault);
  const folder = join(dataFolder(options), folderName(options));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keyPath = join(folder, 'elicitgate.key');
  const { key } = readOrMakeKeyFile(keyPath);
  if (!isKey(key)) return err(`${keyPath} holds no key. Put the right one back, or remove the folder ${folder}, and what was given is lost.`);
  const port = await portFor(folder);
  const app = await createApp(configOf(options, folder, key, port), options.edge);
  if (!app.ok) return app;
  const write = (line: string): void => {
    try {
      options.edge.stdout(`${line}\n`);
    } catch {
      // A client that reads no more closes the other end, too; that ends this.
    }
  };
  try {
    await app.value.listen();
    await runBridge({ url: `http://127.0.0.1:${port}/mcp`, input: options.input, write }, signal);
  } finally {
    await app.value.close();
  }
  return ok(undefined);
}

function faultOf({ env, headers, words }: WrapOptions): string | undefined {
  const [first] = words;
  if (first === undefined) return 'Name the command that runs the server, after --, or the URL of one.';
  const isUrl = urlOf(words) !== undefined;
  const [asked, other, name, isRight] = isUrl ? [headers, env, 'header', headerName] as const : [env, headers, 'env', envName] as const;
  if (other.length > 0) return isUrl ? 'A server at a URL takes headers: use --header NAME.' : 'A command takes variables: use --env NAME.';
  if (asked.length === 0) return `Say what the person is to give: --${name} NAME.`;
  const wrong = asked.find((one) => !isRight.test(one));
  return wrong === undefined ? undefined : `“${wrong}” is no name for --${name}.`;
}

function urlOf(words: readonly string[]): URL | undefined {
  const url = words.length === 1 ? URL.parse(words[0] ?? '') : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** What a person calls it: the last word that looks like a name, without paths, scopes and versions. */
function titleOf(words: readonly string[]): string {
  const url = urlOf(words);
  if (url !== undefined) return url.hostname;
  const named = words.findLast((word) => /[A-Za-z]/.test(word) && !word.startsWith('-') && !word.includes('=')) ?? 'server';
  return basename(named.replace(/(?<=.)@[^/@]*$/, '').replace(/\.[cm]?[jt]s$/, '')) || 'server';
}

function folderName({ words }: WrapOptions): string {
  const digest = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 12);
  return `${titleOf(words).replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 40)}-${digest}`;
}

/** Where programs keep a person's data on this system. */
function dataFolder({ environ, platform, homeFolder }: WrapOptions): string {
  const given = environ['XDG_DATA_HOME'];
  if (given !== undefined && given.startsWith('/')) return join(given, 'elicitgate', 'wrap');
  if (platform === 'darwin') return join(homeFolder, 'Library', 'Application Support', 'elicitgate', 'wrap');
  if (platform === 'win32') return join(environ['LOCALAPPDATA'] ?? join(homeFolder, 'AppData', 'Local'), 'elicitgate', 'wrap');
  return join(homeFolder, '.local', 'share', 'elicitgate', 'wrap');
}

/** The same each time where it is free, so that a link outlives a restart of the client. */
async function portFor(folder: string): Promise<number> {
  const wanted = firstPort + (createHash('sha256').update(folder).digest().readUInt16BE() % ports);
  try {
    return await freePort(wanted);
  } catch {
    return freePort();
  }
}

function configOf(options: WrapOptions, folder: string, key: string, port: number): Config {
  const { words, env, headers, environ, workingFolder } = options;
  const url = urlOf(words);
  const [command, ...args] = words;
  const title = titleOf(words);
  const asked = (url === undefined ? env : headers).map((name, at) => ({ name, field: /^[A-Za-z0-9]/.test(name) ? name : `value${at + 1}` }));
  const values = asked.map(({ name, field }) => [name, url !== undefined && name.toLowerCase() === 'authorization' ? `Bearer {${field}}` : `{${field}}`] as const);
  const inherited = Object.entries(environ).filter((entry): entry is [string, string] => entry[1] !== undefined && !env.includes(entry[0]));
  const file = fileSchema.parse({
    version: 1,
    server: { listen: `127.0.0.1:${port}`, admin: false, drain: '1s' },
    identity: { local: { user: 'me' } },
    vault: { store: `sqlite:${join(folder, 'elicitgate.db')}`, keys: [key] },
    credentials: {
      key: { kind: 'apiKey', title, fields: asked.map(({ name, field }) => ({ name: field, label: name })), inject: { [url === undefined ? 'env' : 'headers']: Object.fromEntries(values) } },
    },
    upstreams: {
      server: {
        title,
        attach: 'always',
        rules: [{ tools: ['*'], requires: ['key'] }],
        ...(url === undefined
          ? { transport: 'stdio', command, args, cwd: workingFolder, env: Object.fromEntries(inherited), discoveryEnv: Object.fromEntries(env.map((name) => [name, 'not-given-yet'])) }
          : { transport: 'streamable-http', url: url.href }),
      },
    },
    log: { level: 'warn', format: 'pretty' },
    audit: { to: [`file:${join(folder, 'audit.jsonl')}`] },
  });
  return finish(file, folder);
}
