/**
 * `upstreams`: each at a path of its own, rules that name what exists, client headers that may pass,
 * and processes that do not share people's secrets.
 */
import { alternatives, own, suggestion } from './check-injection.ts';
import { upstreamPath } from './defaults.ts';
import { canonicalHeader, isRelayHeader } from './headers.ts';
import type { Path } from './problem.ts';
import type { Meaning, Report, Sections } from './sections.ts';

type Credentials = NonNullable<Sections['credentials']>;
type Upstream = NonNullable<Sections['upstreams']>[string];
type Rule = Upstream['rules'][number];

/** Where the pages and metadata of Elicitgate itself are. */
const ownPaths = ['/connect', '/oauth', '/auth', '/account', '/webhooks', '/assets', '/client.json', '/client-jwks.json'];

export function checkUpstreams(meaning: Meaning, report: Report): void {
  const { upstreams = {}, credentials = {} } = meaning.sections;
  checkPaths(meaning.sections, report);
  const injected = injectedHeaders(meaning.sections);
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name];
    if (name === 'shared') report(path, 'shared, which means "for all upstreams"', 'another name');
    upstream.rules.forEach((rule, index) => checkRule([...path, 'rules', index], rule, upstream, meaning, credentials, report));
    if (upstream.transport === 'stdio') checkPeople([...path, 'runAs'], upstream, meaning, report);
    else {
      checkForwarded(path, upstream.forwardHeaders, injected, report);
      const { tls } = upstream;
      if (tls !== undefined && (tls.cert === undefined) !== (tls.key === undefined)) {
        report([...path, 'tls', tls.cert === undefined ? 'cert' : 'key'], 'missing', 'cert and key together');
      }
    }
  }
}

function checkPaths({ upstreams = {}, server }: Sections, report: Report): void {
  const seen = new Map<string, string>();
  const root = server === undefined || server.pagesPath === '/' ? '' : server.pagesPath;
  const taken = [...ownPaths.map((path) => root + path), '/.well-known'];
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = upstreamPath(name, upstream);
    const at = ['upstreams', name, 'path'];
    const first = seen.get(path);
    if (first !== undefined) report(at, `${path}, the path of ${first}`, 'a path of its own');
    const collision = taken.find((prefix) => path === prefix || path.startsWith(`${prefix}/`));
    if (collision !== undefined) report(at, `${path}, below ${collision}, where Elicitgate’s own pages are`, 'another path, or another server.pagesPath');
    if (path === '/') report(at, 'the root', 'a path such as /mcp');
    seen.set(path, name);
  }
}

function injectedHeaders({ credentials = {}, upstreams = {} }: Sections): ReadonlySet<string> {
  const injects = [...Object.values(credentials).map(({ inject }) => inject), ...Object.values(upstreams).flatMap(({ inject }) => Object.values(inject))];
  return new Set(injects.flatMap(({ headers }) => Object.keys(headers)).map(canonicalHeader));
}

function checkForwarded(path: Path, names: readonly string[], injected: ReadonlySet<string>, report: Report): void {
  names.forEach((name, index) => {
    const at = [...path, 'forwardHeaders', index];
    const canonical = canonicalHeader(name);
    if (canonical === 'authorization' || canonical === 'cookie') {
      report(at, `${name}, which is meant for Elicitgate only`, 'another header; the client’s own token never goes upstream');
    } else if (isRelayHeader(name)) {
      report(at, `${name}, a header of the connection or of MCP itself`, 'another header');
    } else if (injected.has(canonical)) {
      report(at, `${name}, which a credential injects`, 'another header; the client cannot send what the proxy puts in');
    }
  });
}

function checkRule(path: Path, rule: Rule, upstream: Upstream, meaning: Meaning, credentials: Credentials, report: Report): void {
  if (rule.tools === undefined && rule.resources === undefined && rule.prompts === undefined) {
    report(path, 'a rule that matches nothing', 'tools, resources or prompts, e.g. tools: ["*"]');
  }
  const headers = new Map<string, string>();
  rule.requires.forEach((requirement, index) => {
    const at = [...path, 'requires', index];
    for (const { name, at: below } of alternatives(requirement)) {
      if (!meaning.credentialNames.includes(name)) report([...at, ...below], `${name}, no such credential`, suggestion(name, meaning.credentialNames));
    }
    if (typeof requirement !== 'string' && 'credential' in requirement) {
      const kind = own(credentials, requirement.credential)?.kind;
      if (kind !== undefined && kind !== 'oauth') report([...at, 'credential'], `${requirement.credential}, a credential of kind ${kind}`, 'a credential of kind oauth');
    }
    checkClash(at, requirement, upstream, credentials, headers, report);
  });
}

/** Two credentials that one call needs cannot both be put into one header. */
function checkClash(at: Path, requirement: Rule['requires'][number], upstream: Upstream, credentials: Credentials, owners: Map<string, string>, report: Report): void {
  const mine = new Map<string, string>();
  for (const { name, at: below } of alternatives(requirement)) {
    const inject = own(upstream.inject, name) ?? own(credentials, name)?.inject;
    for (const header of Object.keys(inject?.headers ?? {})) {
      const owner = owners.get(canonicalHeader(header));
      if (owner !== undefined && owner !== name) {
        report([...at, ...below], `${name} and ${owner} both inject the header ${header}`, 'a header for each, for instance through inject of this upstream');
      }
      mine.set(canonicalHeader(header), name);
    }
  }
  for (const [header, name] of mine) owners.set(header, name);
}

function checkPeople(path: Path, upstream: Extract<Upstream, { transport: 'stdio' }>, { sections, isUncertain }: Meaning, report: Report): void {
  const { identity } = sections;
  if (identity === undefined || identity.local !== undefined || isUncertain(['identity'])) return;
  if (upstream.runAs !== undefined || upstream.trusted) return;
  report(path, 'missing, in a stdio upstream for several people', '{ uid, gid } of a user of its own, or trusted: true when the program may see everyone’s secrets');
}
