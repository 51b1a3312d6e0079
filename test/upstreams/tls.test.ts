/** Certificates of the file, over real TLS: to the upstream, to third parties, and through a proxy. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { connect as connectSocket, type AddressInfo, type Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createOutbound, type OutboundSettings } from '../../src/upstreams/outbound.ts';
import { readCertificates } from '../../src/upstreams/certificates.ts';
import { makeCertificates, type TestCertificates } from '../kit/certificates.ts';
import { connect } from '../kit/mcp-client.ts';
import { startProxy } from '../kit/proxy.ts';

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); });
  return (server.address() as AddressInfo).port;
}

/** An MCP server over TLS, as far as `initialize` needs one. */
function secureServer(t: TestContext, options: ServerOptions): Promise<number> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    response.setHeader('content-type', 'application/json').setHeader('connection', 'close');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 'open', result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'secure', version: '1' } } }));
  };
  return listen(t, createServer(options, answer));
}

async function initializeAt(t: TestContext, url: string, tls: string): Promise<string> {
  const proxy = await startProxy(`upstreams: { main: { url: "${url}"${tls} } }`);
  t.after(() => proxy.close());
  return (await connect(`${proxy.origin}/mcp`)).opened.text;
}

test('an upstream is reached when the file names the authority of its certificate, and only then', async (t) => {
  const made = makeCertificates(t);
  const port = await secureServer(t, made.server);
  assert.match(await initializeAt(t, `https://localhost:${port}/mcp`, `, tls: { ca: "${made.ca}" }`), /"name":"secure"/);
  assert.match(await initializeAt(t, `https://localhost:${port}/mcp`, ''), /"code":1502/);
});

test('an upstream that wants a certificate of the proxy’s own gets the one of the file', async (t) => {
  const made = makeCertificates(t);
  const port = await secureServer(t, { ...made.server, requestCert: true, rejectUnauthorized: true });
  const url = `https://localhost:${port}/mcp`;
  assert.match(await initializeAt(t, url, `, tls: { ca: "${made.ca}", cert: "${made.clientCert}", key: "${made.clientKey}" }`), /"name":"secure"/);
  assert.match(await initializeAt(t, url, `, tls: { ca: "${made.ca}" }`), /"code":1502/);
});

test('a file that holds no certificate stops the start and is named', async (t) => {
  const made = makeCertificates(t);
  await assert.rejects(startProxy(`upstreams: { main: { url: "https://localhost:1/mcp", tls: { ca: "${made.ca}", cert: "${made.clientKey}", key: "${made.clientKey}" } } }`), /Cannot start: the certificates of upstreams\.main\.tls cannot be used/);
});

interface Reached {
  readonly fetch: (url: string) => Promise<Response>;
  readonly tunnels: string[];
}

/** The client for third parties, behind a proxy that makes tunnels and notes where to. */
async function behindProxy(t: TestContext, made: TestCertificates, settings: Partial<OutboundSettings>, login?: string): Promise<Reached> {
  const tunnels: string[] = [];
  const proxy = createHttpServer();
  proxy.on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    if (login !== undefined && request.headers['proxy-authorization'] !== `Basic ${Buffer.from(login).toString('base64')}`) {
      socket.end('HTTP/1.1 407 Login\r\n\r\n');
      return;
    }
    // Whatever was asked for is the one server of the test.
    const far = connectSocket(Number((request.url ?? '').split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    far.on('error', () => socket.destroy());
    socket.on('error', () => far.destroy());
  });
  const port = await listen(t, proxy);
  const outbound = createOutbound({ namedOrigins: new Set(), allow: [], proxy: new URL(`http://${login === undefined ? '' : `${login}@`}127.0.0.1:${port}`), certificates: readCertificates('outbound.ca', { ca: made.ca }, true), ...settings });
  t.after(() => outbound.close());
  return { fetch: outbound.fetch, tunnels };
}

test('third parties are reached with the authority of the file, beside the usual ones', async (t) => {
  const made = makeCertificates(t);
  const port = await secureServer(t, made.server);
  const namedOrigins = new Set([`https://localhost:${port}`]);
  for (const [certificates, isReached] of [[readCertificates('outbound.ca', { ca: made.ca }, true), true], [{}, false]] as const) {
    const outbound = createOutbound({ namedOrigins, allow: [], certificates });
    t.after(() => outbound.close());
    const answer = outbound.fetch(`https://localhost:${port}/`).then(({ status }) => status === 200, () => false);
    assert.equal(await answer, isReached);
  }
  assert.ok((readCertificates('outbound.ca', { ca: made.ca }, true).ca?.length ?? 0) > 50);
});

test('a proxy of the file goes between, with its login, and TLS goes through it', async (t) => {
  const made = makeCertificates(t);
  const port = await secureServer(t, made.server);
  const url = `https://localhost:${port}/`;
  // An address inside that the file names is reached directly; a network that it allows is not named.
  const direct = await behindProxy(t, made, { namedOrigins: new Set([new URL(url).origin]) });
  assert.equal((await direct.fetch(url)).status, 200);
  assert.deepEqual(direct.tunnels, []);
  const through = await behindProxy(t, made, { allow: ['127.0.0.0/8', '::1/128'] }, 'me:secret');
  assert.equal((await through.fetch(url)).status, 200);
  assert.deepEqual(through.tunnels, [`localhost:${port}`]);
});

test('a proxy leads nobody inside: addresses and names that are not public are refused before it is asked', async (t) => {
  const { fetch, tunnels } = await behindProxy(t, makeCertificates(t), {});
  for (const url of ['https://localhost:1/', 'https://127.0.0.1:1/', 'https://[::1]:1/', 'https://169.254.169.254/']) await assert.rejects(fetch(url), /unless the file names it/);
  assert.deepEqual(tunnels, []);
});
