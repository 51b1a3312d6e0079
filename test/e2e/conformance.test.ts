/**
 * The official conformance suite, against servers directly and through the proxy: a client cannot tell
 * that the proxy is there. Whatever differs stands in conformance-exceptions.json with its reason.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { startConformanceServer } from '../kit/conformance-server.ts';
import { runConformance, type Checks } from '../kit/conformance.ts';
import { startContext7 } from '../kit/context7.ts';
import { startEverything } from '../kit/everything.ts';
import { connect, provide } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startProxy } from '../kit/proxy.ts';

interface Exception {
  readonly server: string;
  readonly check: string;
  readonly direct: string;
  readonly proxied: string;
  readonly reason: string;
}

type Difference = Omit<Exception, 'reason'>;

const exceptions = JSON.parse(readFileSync(new URL('conformance-exceptions.json', import.meta.url), 'utf8')) as readonly Exception[];

/** One behind a proxy that passes everything, the other behind one that puts a key into every message and scrubs every answer. */
const servers = [
  { server: 'conformance-server', revision: '2025-11-25', start: startConformanceServer, passing: 84, proxyBefore: injectingProxy },
  { server: 'server-everything', revision: '2025-11-25', start: startEverything, passing: 47, proxyBefore: passingProxy },
  { server: 'context7-mcp', revision: '2026-07-28', start: startContext7, passing: 91, proxyBefore: passingProxy },
];

for (const { server, revision, start, passing, proxyBefore } of servers) {
  test(`every check of ${revision} has the same status for ${server} with and without the proxy, but for what is written down`, async (t) => {
    const upstream = await start();
    t.after(() => upstream.close());
    const [direct, proxied] = await Promise.all([runConformance(onLocalhost(upstream.url), revision), runConformance(await proxyBefore(t, upstream.url), revision)]);
    const passed = [...direct.values()].filter((status) => status === 'SUCCESS');
    assert.equal(passed.length, passing, 'the suite or the server has changed: look again');
    // Both ways: a difference that is not written down, and one that is written down and is none any more.
    const known = exceptions.filter((exception) => exception.server === server).map(({ reason: _reason, ...difference }) => difference);
    assert.deepEqual(differences(server, direct, proxied), known);
  });
}

test('every exception names a server that is compared, and says why', () => {
  for (const { server, reason } of exceptions) {
    assert.ok(servers.some((compared) => compared.server === server), server);
    assert.match(reason, /^[A-Z].{40,}\.$/);
  }
});

function differences(server: string, direct: Checks, proxied: Checks): readonly Difference[] {
  const checks = [...new Set([...direct.keys(), ...proxied.keys()])].sort();
  return checks
    .map((check) => ({ server, check, direct: direct.get(check) ?? 'missing', proxied: proxied.get(check) ?? 'missing' }))
    .filter((pair) => pair.direct !== pair.proxied);
}

function passingProxy(t: TestContext, url: string): Promise<string> {
  return proxyWith(t, `upstreams: { main: { url: "${url}" } }`);
}

async function injectingProxy(t: TestContext, url: string): Promise<string> {
  const endpoint = await proxyWith(t, `
credentials:
  key: { kind: apiKey, fields: [{ name: token }], inject: { headers: { X-Key: "{token}" } } }
upstreams:
  main: { url: "${url}", attach: always, rules: [{ tools: [for-the-key-only], requires: [key] }] }
`);
  await provide(await connect(endpoint), 'for-the-key-only', { token: planted('a-key-of-some-length') });
  return endpoint;
}

async function proxyWith(t: TestContext, file: string): Promise<string> {
  const port = await freePort();
  const server = `server: { listen: "\${LISTEN}", publicUrl: "http://localhost:${port}", admin: false, drain: 1s }`;
  const proxy = await startProxy(`${server}\n${file}`, { port });
  t.after(() => proxy.close());
  return `http://localhost:${port}/mcp`;
}

/** The suite's DNS rebinding checks want `localhost` in the address. */
function onLocalhost(url: string): string {
  return url.replace('127.0.0.1', 'localhost');
}
