/**
 * `server`, `vault` and `audit`: addresses that browsers may be sent to, and stores that are safe there.
 */
import { isLoopbackHost, isWildcard } from './address.ts';
import { isOnThisMachine } from './defaults.ts';
import type { Meaning, Report, Sections } from './sections.ts';

type Server = NonNullable<Sections['server']>;
type Local = NonNullable<Sections['identity']>['local'];

export function checkServer({ sections, isUncertain }: Meaning, report: Report): void {
  const { server, vault, audit, identity } = sections;
  if (server !== undefined) {
    checkPublicUrl(server, identity?.local, report);
    if (!isUncertain(['server', 'listen'])) checkAdmin(server, report);
    if (vault?.store.kind === 'memory' && !isOnThisMachine(server)) {
      report(['vault', 'store'], 'memory: behind a public address', 'sqlite:PATH or another store that outlives the process; memory: is for this machine only');
    }
  }
  if (vault !== undefined) {
    const seen = new Set<string>();
    vault.keys.forEach((key, index) => {
      const id = key.toString('base64');
      if (seen.has(id)) report(['vault', 'keys', index], '[set], the same key as before', 'each key once');
      seen.add(id);
    });
  }
  if (audit?.required === true && audit.to.length === 0) {
    report(['audit', 'to'], 'an empty list, although audit.required is true', 'stdout or file:PATH, or required: false');
  }
}

function checkPublicUrl(server: Server, local: Local, report: Report): void {
  const { publicUrl, listen } = server;
  if (publicUrl === undefined) {
    const isReachable = isLoopbackHost(listen.host) || (local?.container === true && isWildcard(listen.host));
    if (!isReachable) {
      report(['server', 'publicUrl'], 'missing, while listen is not loopback', 'the https URL that browsers and clients type');
    }
  } else if (local === undefined && publicUrl.protocol !== 'https:' && !isLoopbackHost(publicUrl.hostname)) {
    report(['server', 'publicUrl'], 'http on an address that is not loopback', 'https, because people type secrets there');
  }
}

function checkAdmin({ admin, listen }: Server, report: Report): void {
  if (admin === false || admin.port === 0 || admin.port !== listen.port) return;
  if (admin.host === listen.host || isWildcard(admin.host) || isWildcard(listen.host)) {
    report(['server', 'admin'], 'the port of server.listen', 'another port, or false');
  }
}
