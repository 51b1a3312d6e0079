/**
 * `elicitgate demo`: a real upstream, the proxy and a client in one terminal. With `--proxy-only` the
 * client is the person's own. State lies in one folder: a key file that is made once, and a database.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp, type App, type Edge } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { freePort } from './child-server.ts';
import { startDemoApi, type DemoApi } from './demo-api.ts';
import { connectDemoClient, type DemoClient, type Link } from './demo-client.ts';
import { startDemoUpstream, type DemoUpstream } from './demo-upstream.ts';
import { isKey, readOrMakeKeyFile } from './key-file.ts';

export interface DemoOptions {
  /** Absolute path of the folder for key file and database. */
  readonly folder: string;
  /** A loopback port; 0 for any. */
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  readonly version: string;
  readonly edge: Edge;
  /** Prints for the person. */
  readonly print: (text: string) => void;
}

export interface Running {
  close(): Promise<void>;
}

interface Stage extends Running {
  readonly url: string;
  readonly api: DemoApi;
  readonly key: { readonly path: string; readonly isNew: boolean };
  readonly database: string;
  readonly audit: string;
}

const tool = 'query-docs';
const question = { libraryId: '/demo/elicitgate', query: 'How does a person give a key?' };
const configFile = fileURLToPath(new URL('../../config/demo.yaml', import.meta.url));

/** Runs upstream and proxy and says what to do next; the caller closes it. */
export async function startProxyOnly(options: DemoOptions): Promise<Running> {
  const stage = await setStage(options, { database: 'elicitgate.db', audit: 'audit.jsonl', isFresh: false });
  options.print(proxyOnlyText(stage));
  return stage;
}

/**
 * Plays the whole flow once, from an empty database.
 * @param signal ends it early, which rejects
 * @returns whether everything went as it should and the key was found nowhere
 */
export async function playDemo(options: DemoOptions, signal: AbortSignal): Promise<boolean> {
  const logged: string[] = [];
  const logTo = { write: (line: string) => { logged.push(line); } };
  const stage = await setStage({ ...options, edge: { ...options.edge, logTo } }, { database: 'demo.db', audit: 'demo-audit.jsonl', isFresh: true });
  try {
    const client = await connectDemoClient(stage.url, options.version);
    try {
      return await play(options, stage, client, signal, logged);
    } finally {
      await client.close();
    }
  } finally {
    await stage.close();
  }
}

async function play({ print }: DemoOptions, stage: Stage, client: DemoClient, signal: AbortSignal, logged: readonly string[]): Promise<boolean> {
  print(introduction(stage));
  const call = client.call(tool, question, (links) => { print(askedText(stage, links)); });
  const result = await Promise.race([call, rejectedBy(signal)]);
  const key = stage.api.seen.findLast((request) => request.key !== undefined)?.key;
  if (key === undefined || result.isError === true) {
    print('\nThe tool did not get the key. This should not happen; please report it.\n');
    return false;
  }
  print(answeredText(key, JSON.stringify(result.content)));
  const places = [
    { name: 'what the client received', bytes: Buffer.from(client.transcript.join('\n')) },
    { name: 'log', bytes: Buffer.from(logged.join('\n')) },
    ...['', '-wal', '-shm'].map((suffix) => ({ name: `database file${suffix}`, bytes: readIfThere(stage.database + suffix) })),
    { name: 'audit trail', bytes: readIfThere(stage.audit) },
  ];
  const hits = places.map((place) => ({ name: place.name, size: place.bytes.length, count: countOf(key, place.bytes) }));
  print(searchText(hits));
  return hits.every((hit) => hit.count === 0);
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => { reject(new Error('the demo was stopped')); };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

interface StageFiles {
  readonly database: string;
  readonly audit: string;
  /** What an earlier run left is removed. */
  readonly isFresh: boolean;
}

async function setStage(options: DemoOptions, files: StageFiles): Promise<Stage> {
  // Before anything is touched: another demo may be running in this folder.
  const port = await freePort(options.port);
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const keyPath = join(options.folder, 'elicitgate.key');
  const database = join(options.folder, files.database);
  if (!files.isFresh && existsSync(database) && !existsSync(keyPath)) {
    throw new Error(`${keyPath} is missing, and ${database} was sealed with it. Put the file back; or remove the database, and what was given is lost.`);
  }
  const { key, isNew } = readOrMakeKeyFile(keyPath);
  if (!isKey(key)) throw new Error(`${keyPath} holds no key. Put the right one back, or remove it together with the databases beside it.`);
  const audit = join(options.folder, files.audit);
  if (files.isFresh) for (const file of [database, `${database}-wal`, `${database}-shm`, audit]) rmSync(file, { force: true });
  const started: Running[] = [];
  const close = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.close();
  };
  try {
    const api = await startDemoApi();
    started.push(api);
    // The same each time, where it can be: a key is kept for the address that it was given for.
    const next = options.port === 0 || port === 65_535 ? {} : { port: port + 1 };
    const upstream: DemoUpstream = await startDemoUpstream({ apiUrl: api.url, env: options.env, execPath: options.execPath, ...next });
    started.push(upstream);
    const app = await buildApp(options, {
      DEMO_LISTEN: `127.0.0.1:${port}`,
      DEMO_DATABASE: database,
      DEMO_AUDIT: audit,
      DEMO_KEY: key,
      DEMO_UPSTREAM: upstream.url,
    });
    started.push(app);
    await app.listen();
    return { url: `http://127.0.0.1:${port}/mcp`, api, key: { path: keyPath, isNew }, database, audit, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function buildApp(options: DemoOptions, env: Readonly<Record<string, string>>): Promise<App> {
  const config = loadConfig([configFile], env);
  if (!config.ok) throw new Error(config.error.map(formatProblem).join('\n'));
  const app = await createApp(config.value, options.edge);
  if (!app.ok) throw new Error(app.error);
  return app.value;
}

function proxyOnlyText(stage: Stage): string {
  return `
Elicitgate runs at ${stage.url}, in front of the unmodified MCP server of Context7.
The server's own service is played on this machine, so any key of 12 characters or more will do.
${keyText(stage)}
Add it to a client:

  Claude Code   claude mcp add --transport http context7 ${stage.url}
  VS Code       code --add-mcp '{"name":"context7","type":"http","url":"${stage.url}"}'
  others        {"mcpServers":{"context7":{"type":"http","url":"${stage.url}"}}}

Then ask it to look something up in the documentation of /demo/elicitgate with the tool ${tool}.
You get a link; open it, give a key, and the tool runs. Stop with Ctrl-C.

`;
}

function introduction(stage: Stage): string {
  return `
Elicitgate runs at ${stage.url}, in front of the unmodified MCP server of Context7.
${keyText(stage)}
A client calls the tool ${tool}, which needs a key of your own …
`;
}

function askedText(stage: Stage, links: readonly Link[]): string {
  const requests = stage.api.seen.length;
  return `
┌ What the model sees
│ ${links.map((link) => link.message).join('\n│ ')}
├ What the server got
│ ${requests === 0 ? 'nothing: the call has not left the proxy' : `${requests} requests`}
└

Open this link in a browser and give a key (any 12 characters or more will do here):

  ${links.map((link) => link.url).join('\n  ')}

The client waits and goes on by itself … (After “not now”, open the link again, or stop with Ctrl-C.)
`;
}

function answeredText(key: string, content: string): string {
  return `
┌ What the model sees
│ ${content.slice(0, 300)}${content.length > 300 ? ' …' : ''}
├ What the server got
│ Authorization: Bearer ${masked(key)}
└
`;
}

function searchText(hits: readonly { readonly name: string; readonly size: number; readonly count: number }[]): string {
  const rows = hits.map((hit) => `  ${hit.name.padEnd(26)} ${String(hit.size).padStart(8)} bytes   ${hit.count === 0 ? 'not there' : `FOUND ${hit.count} times`}`);
  return `
The key, searched for in plain, base64, hex and URL encoding:

${rows.join('\n')}

The demo has ended, and its page with it. Next, with a client of your own: npm start

`;
}

function keyText(stage: Stage): string {
  return stage.key.isNew ? `A new key that seals what you give was written to ${stage.key.path}; keep that file.\n` : `What you give is sealed with the key in ${stage.key.path}.\n`;
}

function masked(key: string): string {
  return key.length < 8 ? '•'.repeat(key.length) : `${key.slice(0, 2)}${'•'.repeat(Math.min(12, key.length - 2))} (${key.length} characters)`;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function countOf(key: string, bytes: Buffer): number {
  const plain = Buffer.from(key);
  const spellings = new Set([key, plain.toString('base64').replace(/=+$/, ''), plain.toString('base64url'), plain.toString('hex'), encodeURIComponent(key)]);
  return [...spellings].filter((spelling) => bytes.includes(spelling)).length;
}
