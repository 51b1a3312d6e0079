/**
 * `identity`: exactly one way to know who calls, and none that would take anyone for someone.
 */
import { isLoopbackHost, isWildcard } from './address.ts';
import type { Path } from './problem.ts';
import type { Meaning, Report, Sections } from './sections.ts';

type Identity = NonNullable<Sections['identity']>;
type Server = NonNullable<Sections['server']>;

const modes = ['oauth', 'jwtHeader', 'proxyHeaders', 'local'] as const;
const pageModes = ['oauth', 'jwtHeader', 'proxyHeaders'] as const;

export function checkIdentity({ sections, isUncertain }: Meaning, report: Report): void {
  const { identity, server } = sections;
  if (identity === undefined) return;
  exactlyOne(['identity'], modes.filter((mode) => identity[mode] !== undefined), modes, report);
  const { pages } = identity;
  if (pages !== undefined) {
    exactlyOne(['identity', 'pages'], pageModes.filter((mode) => pages[mode] !== undefined), pageModes, report);
  }
  if (identity.oauth !== undefined && identity.oauth.login === undefined && pages === undefined) {
    report(['identity', 'oauth', 'login'], 'missing', 'the client with which people log in on the pages, or identity.pages');
  }
  if (pages?.oauth !== undefined && pages.oauth.login === undefined) {
    report(['identity', 'pages', 'oauth', 'login'], 'missing', 'the client with which people log in on the pages');
  }
  if (pages !== undefined) checkSamePerson(identity, pages, report);
  const isOpen = server?.trustedProxies.length === 0 && !isUncertain(['server', 'trustedProxies']);
  checkSection(['identity'], identity, isOpen, report);
  if (pages !== undefined) checkSection(['identity', 'pages'], pages, isOpen, report);
  if (identity.local !== undefined && server !== undefined) checkLocal(identity.local, server, report);
}

/** A person is (issuer, claim), so callers and browsers that are known by two issuers are never the same person. */
function checkSamePerson(callers: Identity, pages: NonNullable<Identity['pages']>, report: Report): void {
  const caller = callers.oauth ?? callers.jwtHeader ?? callers.proxyHeaders;
  for (const mode of pageModes) {
    const visitor = pages[mode];
    if (caller === undefined || visitor === undefined || visitor.issuer === caller.issuer) continue;
    report(['identity', 'pages', mode, 'issuer'], 'another issuer than that of the callers, so nobody would be the same person', `${caller.issuer}, as for the callers`);
  }
}

function exactlyOne(path: Path, given: readonly string[], all: readonly string[], report: Report): void {
  if (given.length === 1) return;
  const found = given.length === 0 ? `none of ${all.join(', ')}` : given.join(' and ');
  report(path, found, given.length === 0 ? 'exactly one of them' : `exactly one of ${all.join(', ')}`);
}

function checkSection(path: Path, section: Omit<Identity, 'local' | 'pages'>, isOpen: boolean, report: Report): void {
  for (const mode of ['oauth', 'jwtHeader'] as const) {
    const given = section[mode];
    if (given !== undefined) checkHttps([...path, mode, 'issuer'], given.issuer, report);
    if (given?.jwksUri !== undefined) checkHttps([...path, mode, 'jwksUri'], given.jwksUri.href, report);
  }
  const { login } = section.oauth ?? {};
  if (login !== undefined && !login.scopes.includes('openid')) report([...path, 'oauth', 'login', 'scopes'], 'without openid', 'openid among them; without it the issuer does not say who logged in');
  const proxy = section.proxyHeaders;
  if (proxy === undefined) return;
  if ((proxy.secret === undefined) !== (proxy.secretHeader === undefined)) {
    const missing = proxy.secret === undefined ? 'secret' : 'secretHeader';
    report([...path, 'proxyHeaders', missing], 'missing', 'secret and secretHeader together');
  }
  if (proxy.secret === undefined && isOpen) {
    report([...path, 'proxyHeaders'], 'anyone could send these headers', 'server.trustedProxies, or secretHeader and secret');
  }
}

/** An issuer's keys decide who is who, so they come over TLS (RFC 8414 §2), except on this machine. */
export function checkHttps(path: Path, url: string, report: Report): void {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) report(path, 'http on an address that is not loopback', 'https');
}

function checkLocal(local: NonNullable<Identity['local']>, server: Server, report: Report): void {
  const { listen, publicUrl } = server;
  if (publicUrl !== undefined && !isLoopbackHost(publicUrl.hostname)) {
    report(
      ['server', 'publicUrl'],
      'an address that is not loopback, with identity.local',
      'http://localhost:PORT; with identity.local everyone who reaches it is the same person: use oauth, jwtHeader or proxyHeaders for others',
    );
  }
  if (isLoopbackHost(listen.host) || (local.container && isWildcard(listen.host))) return;
  report(
    ['server', 'listen'],
    'an address that is not loopback, with identity.local',
    '127.0.0.1:PORT; or identity.local.container: true in a container whose port is published on loopback only',
  );
}
