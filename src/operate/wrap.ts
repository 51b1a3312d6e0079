/**
 * `elicitgate wrap`: one line in a client's own configuration. Speaks stdio to the client; behind it run the
 * proxy, for one person on a loopback port that serves this client alone, and the server that was named. Key file and database lie in the
 * person's data folder, by the command's name and digest, so that several wraps do not meet and a restart
 * finds what was given. Nothing but messages goes to standard output.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { createApp, type App, type Edge } from '../app.ts';
import { readCatalogue } from '../config/catalogue.ts';
import type { Config } from '../config/config.ts';
import { finish } from '../config/finish.ts';
import { fileSchema } from '../config/schema.ts';
import { err, ok, type Result } from '../errors.ts';
import { runBridge } from './bridge.ts';
import { freePort } from './child-server.ts';
import { generateKey, isKey, readOrMakeKeyFile } from './key-file.ts';
import { faultOf, keyTitleOf, titleOf, urlOf, type WrapWords } from './wrap-words.ts';

export interface WrapOptions extends WrapWords {
  readonly environ: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
  readonly homeFolder: string;
  readonly workingFolder: string;
  readonly input: Readable;
  readonly edge: Edge;
}

const firstPort = 49_152;
const ports = 16_000;
const mostPorts = 5;

/**
 * Runs until the client closes its end.
 * @param signal ends it early
 * @returns nothing, or one sentence on what is wrong with the command line
 * @throws what a port that cannot be listened on throws
 */
export async function runWrap(options: WrapOptions, signal: AbortSignal): Promise<Result<undefined, string>> {
  const fault = faultOf(options);
  if (fault !== undefined) return err(fault);
  const catalogue = options.catalogue === undefined ? undefined : readCatalogue(resolve(options.workingFolder, options.catalogue));
  if (catalogue?.ok === false) return err(`--catalogue takes ${catalogue.error}.`);
  const folder = join(dataFolder(options), folderName(options));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keyPath = join(folder, 'elicitgate.key');
  const { key } = readOrMakeKeyFile(keyPath);
  if (!isKey(key)) return err(`${keyPath} holds no key. Put the right one back, or remove the folder ${folder}, and what was given is lost.`);
  // Other people of this machine reach the port, too.
  const proof = generateKey();
  const served = await serveOnFreePort({ ...options, edge: { ...options.edge, proof } }, folder, key);
  if (!served.ok) return served;
  const { app, port } = served.value;
  const write = (line: string): void => {
    try {
      options.edge.stdout(`${line}\n`);
    } catch {
      // A client that reads no more closes the other end, too; that ends this.
    }
  };
  try {
    await runBridge({ endpoint: { url: `http://127.0.0.1:${port}/mcp`, proof }, input: options.input, write }, signal);
  } finally {
    await app.close();
  }
  return ok(undefined);
}

function folderName({ words, env }: WrapOptions): string {
  const digest = createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 12);
  return `${titleOf({ words, env }).replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 40)}-${digest}`;
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

/** Another client that starts in this moment may take the port that was free. */
async function serveOnFreePort(options: WrapOptions, folder: string, key: string): Promise<Result<{ readonly app: App; readonly port: number }, string>> {
  for (let left = mostPorts, port = await portFor(folder); ; left -= 1, port = await freePort()) {
    const app = await createApp(configOf(options, folder, key, port), options.edge);
    if (!app.ok) return app;
    try {
      await app.value.listen();
      return ok({ app: app.value, port });
    } catch (error) {
      await app.value.close();
      if (left === 0 || !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
}

function configOf(options: WrapOptions, folder: string, key: string, port: number): Config {
  const { words, env, headers, environ, workingFolder, catalogue } = options;
  const url = urlOf(words);
  const [command, ...args] = words;
  const title = titleOf(options);
  const asked = (url === undefined ? env : headers).map((name, at) => ({ name, field: /^[A-Za-z0-9]/.test(name) ? name : `value${at + 1}` }));
  const values = asked.map(({ name, field }) => [name, url !== undefined && name.toLowerCase() === 'authorization' ? `Bearer {${field}}` : `{${field}}`] as const);
  const inherited = Object.entries(environ).filter((entry): entry is [string, string] => entry[1] !== undefined && !env.includes(entry[0]));
  const file = fileSchema.parse({
    version: 1,
    server: { listen: `127.0.0.1:${port}`, admin: false, drain: '1s' },
    identity: { local: { user: 'me' } },
    vault: { store: `sqlite:${join(folder, 'elicitgate.db')}`, keys: [key] },
    credentials: {
      key: { kind: 'apiKey', title: keyTitleOf(options), fields: asked.map(({ name, field }) => ({ name: field, label: name })), inject: { [url === undefined ? 'env' : 'headers']: Object.fromEntries(values) } },
    },
    upstreams: {
      server: {
        title,
        attach: 'always',
        rules: [{ tools: ['*'], requires: ['key'] }],
        ...(url === undefined
          ? { transport: 'stdio', command, args, cwd: workingFolder, env: Object.fromEntries(inherited), discoveryEnv: Object.fromEntries(env.map((name) => [name, 'not-given-yet'])) }
          : { transport: 'streamable-http', url: url.href, ...(catalogue === undefined ? {} : { catalogue: resolve(workingFolder, catalogue) }) }),
      },
    },
    log: { level: 'warn', format: 'pretty' },
    audit: { to: [`file:${join(folder, 'audit.jsonl')}`] },
  });
  return finish(file, folder);
}
