/** Several processes of `serve` on one database behind one balancer, in front of one upstream. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { keyCredential } from './gateway.ts';
import { mcpServer } from './mcp-server.ts';
import { startElicitgate, type Program } from './program.ts';
import { startRecorder, type Recorder } from './recorder.ts';

export interface ReplicaSetup {
  /** As under `vault.store`. */
  readonly store: string;
  /** Under `identity`; one local person by default. */
  readonly identity?: string;
  readonly count?: number;
  readonly cacheFor?: string;
  /** The credential `key` that the tool `paid` asks for, instead of an API key. */
  readonly credential?: string;
  /** The keys of the vault, the first one first. */
  readonly keys?: readonly string[];
}

export interface Replicas {
  /** The MCP endpoint behind the balancer. */
  readonly url: string;
  readonly balancer: Balancer;
  readonly upstream: Recorder;
  readonly programs: readonly Program[];
  /** The file of one replica, for commands. */
  readonly file: (index: number) => string;
  /** Out of rotation first, as a balancer takes what is not ready (a connection that a closing listener has not accepted yet is cut); then SIGTERM, wait, start it anew on its port, and back. */
  readonly restart: (index: number) => Promise<void>;
}

/** They end with the test. */
export async function startReplicas(t: Pick<TestContext, 'after'>, { store, identity = '{ local: { user: ada } }', count = 3, cacheFor = '1h', credential = keyCredential, keys = [generateKey()] }: ReplicaSetup): Promise<Replicas> {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-replicas-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const upstream = await startRecorder(mcpServer());
  t.after(() => upstream.close());
  const balancer = await startBalancer();
  t.after(() => balancer.close());
  const file = (index: number): string => join(folder, `replica-${index}.yaml`);
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const port = await freePort();
    ports.push(port);
    writeFileSync(
      file(index),
      `version: 1
server: { listen: "127.0.0.1:${port}", publicUrl: "${balancer.origin}", admin: false, drain: 5s, closeAfter: 1s }
identity: ${identity}
vault: { store: "${store}", keys: [${keys.map((key) => JSON.stringify(key)).join(', ')}], cacheFor: ${cacheFor} }
${credential}
upstreams: { main: { url: "${upstream.url}", rules: [{ tools: [paid], requires: [key] }] } }
`,
    );
  }
  const start = (index: number): Program => startElicitgate(['serve', '-c', file(index)], { cwd: folder });
  const programs = ports.map((_port, index) => start(index));
  t.after(async () => {
    for (const program of programs) program.signal('SIGTERM');
    await Promise.all(programs.map(({ end }) => end));
  });
  await Promise.all(programs.map((program) => program.logs(/"serving"/)));
  balancer.setTargets(ports.map((port) => `http://127.0.0.1:${port}`));
  return {
    url: `${balancer.origin}/mcp`,
    balancer,
    upstream,
    programs,
    file,
    async restart(index) {
      balancer.rotate(index, false);
      programs[index]?.signal('SIGTERM');
      const code = await programs[index]?.end;
      if (code !== 0) throw new Error(`a replica ended with ${String(code)}`);
      programs[index] = start(index);
      await programs[index].logs(/"serving"/);
      balancer.rotate(index, true);
    },
  };
}
