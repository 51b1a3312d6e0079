/** The proxy in front of a recorder, for tests of the MCP endpoint: one tool `paid` needs a key that goes into X-Key. */
import type { TestContext } from 'node:test';
import { mcpServer, type McpServerOptions } from './mcp-server.ts';
import { planted } from './planted.ts';
import { startProxy, type ProxyOptions, type RunningProxy } from './proxy.ts';
import { startRecorder, type Behaviour, type Recorder } from './recorder.ts';

export interface GatewaySetup extends ProxyOptions {
  /** What the upstream is; a stateful MCP server with JSON answers by default. */
  readonly upstream?: McpServerOptions | Behaviour;
  /** Further keys of the upstream, as they stand in the file's `{ … }`. */
  readonly with?: string;
  /** Further sections of the file. */
  readonly file?: string;
}

export interface RunningGateway {
  /** The MCP endpoint that clients use. */
  readonly url: string;
  readonly proxy: RunningProxy;
  readonly upstream: Recorder;
}

export const key = planted('sk-canary-4f9d2c7b81');

export const keyCredential = `
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } }`;

/** Starts both, and closes them with the test. `\${UPSTREAM}` in the file is the recorder's address. */
export async function startGateway(t: Pick<TestContext, 'after'>, setup: GatewaySetup = {}): Promise<RunningGateway> {
  const { upstream: behaviour = {}, file = '', with: more, env, ...options } = setup;
  const upstream = closedOnce(await startRecorder(typeof behaviour === 'function' ? behaviour : mcpServer(behaviour)));
  t.after(() => upstream.close());
  const credentials = /^credentials:/m.test(file) ? '' : keyCredential;
  const upstreams = /^upstreams:/m.test(file) ? '' : `upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }]${more === undefined ? '' : `, ${more}`} } }`;
  const proxy = closedOnce(await startProxy([credentials, upstreams, file].join('\n'), { ...options, env: { UPSTREAM: upstream.url, ...env } }));
  t.after(() => proxy.close());
  return { url: `${proxy.origin}/mcp`, proxy, upstream };
}

/** A test may close a part early. */
function closedOnce<T extends { readonly close: () => Promise<void> }>(part: T): T {
  let closing: Promise<void> | undefined;
  return { ...part, close: () => (closing ??= part.close()) };
}
