/** A certificate authority of a test's own, made with openssl: a server on this machine and a client. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Paths of PEM files, and what stands in those that a server needs. */
export interface TestCertificates {
  readonly ca: string;
  readonly clientCert: string;
  readonly clientKey: string;
  readonly server: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** @param names that both are good for */
export function makeCertificates(t: Pick<TestContext, 'after'>, names = 'DNS:localhost,IP:127.0.0.1'): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test authority');
  writeFileSync(at('names'), `subjectAltName=${names}`);
  for (const name of ['server', 'client']) {
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', `${name}.pem`, '-days', '2', '-extfile', 'names');
  }
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  return { ca: at('ca.pem'), clientCert: at('client.pem'), clientKey: at('client.key'), server: { ca: read('ca.pem'), cert: read('server.pem'), key: read('server.key') } };
}
