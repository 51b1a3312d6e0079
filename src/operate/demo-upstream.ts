/**
 * The demo's upstream: the unmodified MCP server of Context7 from the npm registry, which takes each
 * caller's key from a request header.
 *
 * Promises: runs the package installed beside this one, or fetches the pinned version through npx;
 * the server sees nothing of the caller's environment but what it needs to run, so that neither an
 * outbound proxy nor a key of the operator's own changes what it does. Ends only its own child.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, startChildServer } from './child-server.ts';

const packageName = '@upstash/context7-mcp';
const pinnedVersion = '4.1.1';
const command = 'context7-mcp';
const installWithinMs = 180_000;
const startWithinMs = 30_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface DemoUpstream {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts the server and waits until it listens.
 * @param options.apiUrl the API that it asks, see demo-api.ts
 * @param options.env the environment to find npx and its settings in
 * @param options.execPath the Node executable that runs it
 * @param options.port where it should listen; it takes the next free one. Any by default.
 * @throws Error when the package can neither be found nor fetched, or does not start
 */
export async function startDemoUpstream(options: {
  readonly apiUrl: string;
  readonly env: Environment;
  readonly execPath: string;
  readonly port?: number;
}): Promise<DemoUpstream> {
  const script = (await installedScript()) ?? (await fetchedScript(options.env));
  const child = await startChildServer({
    command: options.execPath,
    args: [script, '--transport', 'http', '--port', String(options.port ?? (await freePort()))],
    env: {
      PATH: options.env.PATH,
      HOME: options.env.HOME,
      CONTEXT7_API_URL: options.apiUrl,
      // Otherwise it opens a metrics port, always the same one.
      OTEL_SDK_DISABLED: 'true',
    },
    ready: /running on HTTP at http:\/\/localhost:(\d+)\/mcp/,
    startWithinMs,
  });
  return { url: `http://127.0.0.1:${child.ready[1]}/mcp`, close: child.close };
}

async function installedScript(): Promise<string | undefined> {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(packageName, import.meta.url);
  } catch {
    return undefined;
  }
  if (manifest === undefined) return undefined;
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: Record<string, string> };
  return join(dirname(manifest), bin[command] ?? '');
}

/** Lets npx fetch the package and say where it put the command, so that the child is the server itself. */
async function fetchedScript(env: Environment): Promise<string> {
  const args = ['--yes', '--package', `${packageName}@${pinnedVersion}`, '-c', `command -v ${command}`];
  const { stdout } = await promisify(execFile)('npx', args, { env, timeout: installWithinMs });
  return stdout.trim();
}
