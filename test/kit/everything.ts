/**
 * The unmodified `@modelcontextprotocol/server-everything` over Streamable HTTP: stateful sessions, SSE
 * answers with event ids, GET streams. It knows 2024-11-05 to 2025-11-25 and answers an unknown session
 * with 400.
 */
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { freePort, startChildServer } from '../../src/operate/child-server.ts';

export interface Everything {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts the server on a free port; `close` ends it. */
export async function startEverything(): Promise<Everything> {
  const manifest = findPackageJSON('@modelcontextprotocol/server-everything', import.meta.url);
  if (manifest === undefined) throw new Error('server-everything is not installed: run npm ci');
  const port = await freePort();
  const child = await startChildServer({
    command: process.execPath,
    args: [join(dirname(manifest), 'dist/index.js'), 'streamableHttp'],
    env: { PATH: process.env.PATH, PORT: String(port) },
    ready: /listening on port (\d+)/,
    startWithinMs: 30_000,
  });
  return { url: `http://127.0.0.1:${port}/mcp`, close: child.close };
}
