import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressGuard } from '../../src/identity/addressed.ts';

const behindIngress = { publicUrl: new URL('https://MCP.example.com/tools'), listen: { host: '10.1.2.3', port: 8080 }, allowedHosts: [], allowedOrigins: [] };

/** What of these is served. */
function served(guard: ReturnType<typeof createAddressGuard>, hosts: readonly string[]): string[] {
  return hosts.filter((host) => guard.check({ host }) === undefined);
}

test('behind an ingress the public name and the listening address are served, with the default port said or not, and no loopback name (A17)', () => {
  const guard = createAddressGuard(behindIngress);
  const ours = ['mcp.example.com', 'MCP.EXAMPLE.COM', 'mcp.example.com:443', '10.1.2.3:8080'];
  assert.deepEqual(served(guard, [...ours, 'mcp.example.com:80', 'mcp.example.com:8080', '10.1.2.3', 'localhost:8080', '127.0.0.1:8080', 'example.com']), ours);
});

test('a public URL with a port is served at that port alone (A17)', () => {
  const guard = createAddressGuard({ ...behindIngress, publicUrl: new URL('https://mcp.example.com:8443') });
  assert.deepEqual(served(guard, ['mcp.example.com:8443', 'mcp.example.com', 'mcp.example.com:443']), ['mcp.example.com:8443']);
});

test('a loopback listener is served by each of its names, IPv6 in brackets (A17)', () => {
  const listen = { host: '::1', port: 8080 };
  const guard = createAddressGuard({ ...behindIngress, publicUrl: new URL('http://localhost:8080'), listen });
  const ours = ['[::1]:8080', 'localhost:8080', '127.0.0.1:8080'];
  assert.deepEqual(served(guard, [...ours, '::1:8080', '::1', '[::1]', 'localhost']), ours);
});

test('an origin is compared with its scheme and port; no Origin is no page, `null` is somebody’s (A17)', () => {
  const guard = createAddressGuard({ ...behindIngress, allowedOrigins: ['https://app.example.com'] });
  const check = (origin: string) => guard.check({ host: 'mcp.example.com', origin });
  assert.equal(guard.check({ host: 'mcp.example.com' }), undefined);
  for (const origin of ['https://mcp.example.com', 'http://10.1.2.3:8080', 'https://app.example.com']) assert.equal(check(origin), undefined, origin);
  for (const origin of ['null', '', 'http://mcp.example.com', 'https://mcp.example.com:443', 'https://mcp.example.com/', 'https://10.1.2.3:8080']) {
    assert.equal(check(origin), 'foreign-origin', origin);
  }
  assert.equal(guard.check({ origin: 'https://mcp.example.com' }), 'foreign-host');
});

test('a page of an allowed origin may call, but is not one of our own pages', () => {
  const guard = createAddressGuard({ ...behindIngress, allowedOrigins: ['https://app.example.com'] });
  assert.equal(guard.isOwnOrigin('https://mcp.example.com'), true);
  assert.equal(guard.isOwnOrigin('https://app.example.com'), false);
});
