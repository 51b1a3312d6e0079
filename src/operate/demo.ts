/**
 * `elicitgate demo`: a real upstream, the proxy and a client in one terminal. With `--proxy-only` the
 * client is the person's own. State lies in one folder: a key file that is made once, and a database.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp, type App, type Edge } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { freePort } from './child-server.ts';
import { startDemoApi, type DemoApi } from './demo-api.ts';
import { connectDemoClient, type Link } from './demo-client.ts';
import { startDemoUpstream, type DemoUpstream } from './demo-upstream.ts';
import { readOrMakeKeyFile } from './key-file.ts';

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
}

const tool = 'query-docs';
const question = { libraryId: '/demo/elicitgate', query: 'How does a person give a key?' };
const configFile = fileURLToPath(new URL('../../config/demo.yaml', import.meta.url));

/** Runs upstream and proxy and says what to do next; the caller closes it. */
export async function startProxyOnly(options: DemoOptions): Promise<Running> {
  const stage = await setStage(options, 'elicitgate.db');
  options.print(proxyOnlyText(stage));
  return stage;
}

/** Plays the whole flow once. @returns whether everything went as it should and the key was found nowhere */
export async function playDemo(options: DemoOptions, signal: AbortSignal): Promise<boolean> {
  const database = 'demo.db';
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(options.folder, database + suffix), { force: true });
  rmSync(join(options.folder, 'audit.jsonl'), { force: true });
  const logged: string[] = [];
  const logTo = { write: (line: string) => { logged.push(line); } };
  const stage = await setStage({ ...options, edge: { ...options.edge, logTo } }, database);
  const client = await connectDemoClient(stage.url, options.version);
  const stop = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => { reject(new Error('the demo was stopped')); });
  });
  try {
    options.print(introduction(stage));
    const result = await Promise.race([client.call(tool, question, (links) => { options.print(askedText(stage, links)); }), stop]);
    const key = stage.api.seen.findLast((request) => request.key !== undefined)?.key;
    if (key === undefined || result.isError === true) {
      options.print('\nThe tool did not get the key. This should not happen; please report it.\n');
      return false;
    }
    options.print(answeredText(key, JSON.stringify(result.content)));
    const places = [
      { name: 'what the client received', bytes: Buffer.from(client.transcript.join('\n')) },
      { name: 'log', bytes: Buffer.from(logged.join('\n')) },
      ...['', '-wal', '-shm'].map((suffix) => ({ name: `database file${suffix}`, bytes: readIfThere(stage.database + suffix) })),
      { name: 'audit trail', bytes: readIfThere(join(options.folder, 'audit.jsonl')) },
    ];
    const hits = places.map((place) => ({ name: place.name, size: place.bytes.length, count: countOf(key, place.bytes) }));
    options.print(searchText(hits));
    return hits.every((hit) => hit.count === 0);
  } finally {
    await client.close();
    await stage.close();
  }
}

async function setStage(options: DemoOptions, databaseName: string): Promise<Stage> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const keyPath = join(options.folder, 'elicitgate.key');
  const { key, isNew } = readOrMakeKeyFile(keyPath);
  const database = join(options.folder, databaseName);
  const port = options.port === 0 ? await freePort() : options.port;
  const started: Running[] = [];
  const close = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.close();
  };
  try {
    const api = await startDemoApi();
    started.push(api);
    const upstream: DemoUpstream = await startDemoUpstream({ apiUrl: api.url, env: options.env, execPath: options.execPath });
    started.push(upstream);
    const app = await buildApp(options, {
      DEMO_LISTEN: `127.0.0.1:${port}`,
      DEMO_DATABASE: database,
      DEMO_AUDIT: join(options.folder, 'audit.jsonl'),
      DEMO_KEY: key,
      DEMO_UPSTREAM: upstream.url,
    });
    started.push(app);
    await app.listen();
    return { url: `http://127.0.0.1:${port}/mcp`, api, key: { path: keyPath, isNew }, database, close };
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
The server's own service is played on this machine, so any key will do.
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

Open this link in a browser and give a key (anything will do here):

  ${links.map((link) => link.url).join('\n  ')}

The client waits and goes on by itself …
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
