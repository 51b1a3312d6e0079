/** TLS to both databases: a certificate that is not of the named authority, or is for another host, is refused. */
import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { UnavailableError } from '../../src/errors.ts';
import { freePort } from '../../src/operate/child-server.ts';
import { openPostgresStore } from '../../src/stores/postgres/postgres.ts';
import { openRedisStore } from '../../src/stores/redis/redis.ts';
import type { Store } from '../../src/stores/store.ts';
import { makeCertificates, type TestCertificates } from '../kit/certificates.ts';
import { skipWithout } from '../kit/database-server.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';

/** Its two files, where the server's own user can read them and nobody else. */
function filesFor(t: TestContext, { server }: TestCertificates): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'database-tls-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, server.cert);
  writeFileSync(files.key, server.key, { mode: 0o600 });
  if (process.getuid?.() === 0) for (const path of [folder, files.cert, files.key]) chownSync(path, 65_534, 65_534);
  return files;
}

async function works(open: Promise<Store>): Promise<void> {
  const store = await open;
  await store.put('a', Uint8Array.of(1), 60_000);
  assert.deepEqual(await store.take('a'), Uint8Array.of(1));
  await store.close();
}

describe('TLS to PostgreSQL', { skip: skipWithout('postgresql', findPostgres()), timeout: 30_000 }, () => {
  test('is checked: the authority in every mode, the name in all but verify-ca', async (t) => {
    const [certificates, foreign] = [makeCertificates(t, 'DNS:localhost'), makeCertificates(t)];
    const { cert, key } = filesFor(t, certificates);
    const server = await startPostgres(['fsync=off', 'ssl=on', `ssl_cert_file=${cert}`, `ssl_key_file=${key}`]);
    t.after(() => server.close());
    const byName = server.url.replace('127.0.0.1', 'localhost');
    const open = (url: string, ca?: string) => openPostgresStore({ url, ca, namespace: 'd' }, Date.now);
    await works(open(byName, certificates.ca));
    await works(open(`${byName}?sslmode=verify-full`, certificates.ca));
    await works(open(`${server.url}?sslmode=verify-ca`, certificates.ca));
    for (const mode of ['require', 'verify-full']) await assert.rejects(open(`${server.url}?sslmode=${mode}`, certificates.ca), UnavailableError, mode);
    for (const mode of ['require', 'verify-full', 'verify-ca']) await assert.rejects(open(`${byName}?sslmode=${mode}`, foreign.ca), UnavailableError, mode);
    await assert.rejects(open(`${byName}?sslmode=require`), UnavailableError, 'no authority of the system');
  });

  test('is never left out when it was asked for and the server has none', async (t) => {
    const server = await startPostgres(['fsync=off']);
    t.after(() => server.close());
    await assert.rejects(openPostgresStore({ url: `${server.url}?sslmode=require`, namespace: 'd' }, Date.now), UnavailableError);
  });
});

describe('TLS to Redis', { skip: skipWithout('redis-server', findRedis()), timeout: 30_000 }, () => {
  test('is checked: the authority and the name', async (t) => {
    const [certificates, foreign] = [makeCertificates(t, 'DNS:localhost'), makeCertificates(t)];
    const { cert, key } = filesFor(t, certificates);
    const port = await freePort();
    const server = await startRedis(['--tls-port', String(port), '--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', certificates.ca, '--tls-auth-clients', 'no', '--appendonly', 'yes']);
    t.after(() => server.close());
    const open = async (host: string, ca?: string) => (await openRedisStore({ url: `rediss://${host}:${port}`, ca, namespace: 'd' }, Date.now)).store;
    await works(open('localhost', certificates.ca));
    await assert.rejects(open('127.0.0.1', certificates.ca), UnavailableError);
    await assert.rejects(open('localhost', foreign.ca), UnavailableError);
    await assert.rejects(open('localhost'), UnavailableError);
  });
});
