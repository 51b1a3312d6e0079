/**
 * What is compared: the upstream directly, and six proxies in front of it, each in its own process.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../src/operate/child-server.ts';
import { openConnectPage } from '../test/kit/connect-page.ts';
import { startIssuer, type Issuer } from './issuer.ts';
import { callTool, openSession, type Headers } from './mcp.ts';
import { beside, startListener, temporaryFolder, type Process } from './processes.ts';

export interface Contender {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  /** The process whose processor time a call costs; none for the upstream itself. */
  readonly pid: number | undefined;
  readonly tool: 'free' | 'paid';
  readonly session: Headers;
  readonly close: () => Promise<void>;
}

export const names = {
  direct: 'direct',
  nginx: 'nginx',
  nodePipe: 'node:http pipe',
  fastifyPipe: 'Fastify + dispatch',
  passing: 'Elicitgate, passing',
  injecting: 'Elicitgate, injecting',
  injectingJwt: 'Elicitgate, inj., JWT',
} as const;

/**
 * Starts all contenders in front of one upstream. Those that are compared most stand side by side.
 * @param upstreamPort where bench/upstream.ts listens
 */
export async function startContenders(upstreamPort: number): Promise<readonly Contender[]> {
  const contenders = [await contender(names.direct, upstreamPort, undefined, async () => {})];
  if (hasNginx()) contenders.push(await startNginx(upstreamPort));
  contenders.push(await startElicitgate(names.injecting, upstreamPort));
  contenders.push(await startElicitgate(names.injectingJwt, upstreamPort, await startIssuer()));
  contenders.push(await startScript(names.nodePipe, 'node-pipe.ts', upstreamPort));
  contenders.push(await startElicitgate(names.passing, upstreamPort));
  contenders.push(await startScript(names.fastifyPipe, 'fastify-pipe.ts', upstreamPort));
  return contenders;
}

/** Starts `elicitgate serve` in front of the upstream, with a rule on the tools `paid` and `show`. */
export async function serveElicitgate(
  upstreamPort: number,
  nodeOptions: readonly string[] = [],
  issuer?: Issuer,
): Promise<{ readonly process: Process; readonly port: number }> {
  const port = await freePort();
  const file = join(temporaryFolder(), 'elicitgate.yaml');
  await writeFile(file, configuration(port, upstreamPort, issuer));
  const args = [...nodeOptions, beside('../src/main.ts'), 'serve', '-c', file];
  return { process: await startListener(process.execPath, args, port, nodeOptions.length > 0), port };
}

function configuration(port: number, upstreamPort: number, issuer: Issuer | undefined): string {
  return `
version: 1
server: { listen: "127.0.0.1:${port}", admin: false }
identity: ${issuer === undefined ? '{ local: { user: bench } }' : tokens(issuer)}
vault: { store: "sqlite:./elicitgate.db", keys: [${randomBytes(32).toString('base64')}] }
credentials:
  key:
    kind: apiKey
    title: Bench key
    fields: [{ name: token, label: Key }]
    inject: { headers: { X-Key: "{token}" } }
upstreams:
  bench:
    path: /mcp
    url: http://127.0.0.1:${upstreamPort}/mcp
    rules: [{ tools: [paid, show], requires: [key] }]
log: { level: warn }
`;
}

/** Callers by access token; browsers by what a proxy in front would say, so that the bench needs no login. */
function tokens({ issuer, jwksUri }: Issuer): string {
  const browsers = `{ user: X-User, issuer: "${issuer}", secretHeader: X-Proxy-Secret, secret: ${visitor['X-Proxy-Secret']} }`;
  return `{ oauth: { issuer: "${issuer}", jwksUri: "${jwksUri}", requiredScopes: [mcp] }, pages: { proxyHeaders: ${browsers} } }`;
}

const visitor = { 'X-User': 'bench', 'X-Proxy-Secret': 'bench-proxy-secret' } as const;

async function startElicitgate(name: string, upstreamPort: number, issuer?: Issuer): Promise<Contender> {
  const { process, port } = await serveElicitgate(upstreamPort, [], issuer);
  const always = issuer === undefined ? {} : { authorization: `Bearer ${await issuer.token(`http://127.0.0.1:${port}/mcp`)}` };
  const close = async () => {
    await process.close();
    issuer?.close();
  };
  const started = await contender(name, port, process.pid, close, name === names.passing ? 'free' : 'paid', always);
  if (started.tool === 'paid') await giveKey(started);
  return started;
}

/** Gives the key through the real page, and makes sure that it is injected and scrubbed from then on. */
async function giveKey({ url, session }: Contender): Promise<void> {
  const asked = await callTool(url, session, 'paid');
  const link = asked.error?.data?.elicitations?.[0]?.url;
  if (link === undefined) throw new Error(`no elicitation: ${JSON.stringify(asked)}`);
  const page = await openConnectPage(link, visitor);
  const given = await page.submit('give', { token: 'bench-key-0123456789' });
  const shown = await callTool(url, session, 'show');
  const value = shown.result?.content?.[0]?.text;
  if (value !== '[redacted]') throw new Error(`page ${given.status}, then ${JSON.stringify(shown)}`);
}

async function startScript(name: string, file: string, upstreamPort: number): Promise<Contender> {
  const port = await freePort();
  const running = await startListener(process.execPath, [beside(file), String(port), String(upstreamPort)], port);
  return contender(name, port, running.pid, running.close);
}

function hasNginx(): boolean {
  return spawnSync('nginx', ['-v']).status === 0;
}

async function startNginx(upstreamPort: number): Promise<Contender> {
  const folder = temporaryFolder();
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, nginxConfiguration(folder, port, upstreamPort));
  const running = await startListener('nginx', ['-c', file, '-e', 'stderr'], port);
  return contender(names.nginx, port, running.pid, running.close);
}

/** One worker (the process itself), connections kept alive on both sides, streams not held back. */
function nginxConfiguration(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 8192; }
http {
  ${temporary.join('\n  ')}
  access_log off;
  upstream mcp { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 100000000;
    location / {
      proxy_pass http://mcp;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

async function contender(
  name: string,
  port: number,
  pid: number | undefined,
  close: () => Promise<void>,
  tool: Contender['tool'] = 'free',
  always: Headers = {},
): Promise<Contender> {
  const url = `http://127.0.0.1:${port}/mcp`;
  return { name, port, url, pid, tool, session: await openSession(url, always), close };
}
