/**
 * `upstreams`: each at a path of its own, rules that name what exists, client headers that may pass,
 * and processes that do not share people's secrets.
 */
import { own, suggestion } from './check-injection.ts';
import { isSamePlace, targetsOf, type Target } from './injection-targets.ts';
import { upstreamPath } from './defaults.ts';
import { mayOverlap } from './globs.ts';
import { canonicalHeader, isRelayHeader } from './headers.ts';
import type { Path } from './problem.ts';
import { alternatives, namesIn } from './requirement.ts';
import type { Meaning, Report, Sections } from './sections.ts';

type Credentials = NonNullable<Sections['credentials']>;
type Upstream = NonNullable<Sections['upstreams']>[string];
type Rule = Upstream['rules'][number];

/** Where the pages and metadata of Elicitgate itself are. */
const ownPaths = ['/connect', '/oauth', '/auth', '/account', '/webhooks', '/assets', '/client.json', '/client-public.json', '/client-jwks.json'];

export function checkUpstreams(meaning: Meaning, report: Report): void {
  const { upstreams = {}, credentials = {} } = meaning.sections;
  checkPaths(meaning.sections, report);
  const injected = injectedHeaders(meaning.sections);
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name];
    if (name === 'shared') report(path, 'shared, which means "for all upstreams"', 'another name');
    upstream.rules.forEach((rule, index) => checkRule([...path, 'rules', index], rule, meaning, credentials, report));
    checkClashes(path, upstream, credentials, report);
    if (upstream.transport === 'stdio') {
      checkPeople([...path, 'runAs'], upstream, meaning, report);
      checkDiscovery(path, upstream, credentials, report);
    }
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

/** Only an address can be asked who protects it. */
function checkDiscovery(path: Path, upstream: Upstream, credentials: Credentials, report: Report): void {
  upstream.rules.forEach((rule, index) => {
    const discovered = namesIn(rule.requires).find((name) => {
      const credential = own(credentials, name);
      return credential?.kind === 'oauth' && credential.discover !== undefined;
    });
    if (discovered !== undefined) report([...path, 'rules', index, 'requires'], `${discovered}, with discover: upstream, for a program`, 'a credential that names its third party; a program has no address to ask');
  });
}

function checkRule(path: Path, rule: Rule, meaning: Meaning, credentials: Credentials, report: Report): void {
  if (rule.tools === undefined && rule.resources === undefined && rule.prompts === undefined) {
    report(path, 'a rule that matches nothing', 'tools, resources or prompts, e.g. tools: ["*"]');
  }
  rule.requires.forEach((requirement, index) => {
    const at = [...path, 'requires', index];
    for (const { name, at: below } of alternatives(requirement)) {
      if (!meaning.credentialNames.includes(name)) report([...at, ...below], `${name}, no such credential`, suggestion(name, meaning.credentialNames));
    }
    if (typeof requirement !== 'string' && 'credential' in requirement) {
      const kind = own(credentials, requirement.credential)?.kind;
      if (kind !== undefined && kind !== 'oauth') report([...at, 'credential'], `${requirement.credential}, a credential of kind ${kind}`, 'a credential of kind oauth');
    }
  });
}

/** One credential where a rule asks for it. */
interface Use {
  readonly at: Path;
  readonly rule: Rule;
  readonly name: string;
  /** Any one of these is enough, the credential itself among them. */
  readonly instead: readonly string[];
  readonly targets: readonly Target[];
}

function usesOf(path: Path, upstream: Upstream, credentials: Credentials): readonly Use[] {
  return upstream.rules.flatMap((rule, ruleIndex) =>
    rule.requires.flatMap((requirement, index) => {
      const choice = alternatives(requirement);
      return choice.map(({ name, at }): Use => ({
        at: [...path, 'rules', ruleIndex, 'requires', index, ...at],
        rule,
        name,
        instead: choice.map((one) => one.name),
        targets: targetsOf(own(upstream.inject, name) ?? own(credentials, name)?.inject),
      }));
    }),
  );
}

/** Two credentials that can go along in one request cannot both be put into one place. */
function checkClashes(path: Path, upstream: Upstream, credentials: Credentials, report: Report): void {
  const earlier: Use[] = [];
  for (const use of usesOf(path, upstream, credentials)) {
    for (const target of use.targets) {
      const owner = earlier.find((one) => one.name !== use.name && one.targets.some((other) => isSamePlace(other, target)) && (upstream.attach === 'always' || upstream.catalogue !== undefined || canMeet(one, use)));
      if (owner !== undefined) {
        report(use.at, `${use.name} and ${owner.name} both inject ${target.what}`, `a ${target.kind} for each, for instance through inject of this upstream`);
      }
    }
    earlier.push(use);
  }
}

/** Whether one call can need both. */
function canMeet(one: Use, other: Use): boolean {
  if (one.instead.includes(other.name) && other.instead.includes(one.name)) return false;
  return one.rule === other.rule || (['tools', 'resources', 'prompts'] as const).some((kind) => {
    const [names, others] = [one.rule[kind], other.rule[kind]];
    return names !== undefined && others !== undefined && mayOverlap(names, others);
  });
}

function checkPeople(path: Path, upstream: Extract<Upstream, { transport: 'stdio' }>, { sections, isUncertain }: Meaning, report: Report): void {
  const { identity } = sections;
  if (identity === undefined || identity.local !== undefined || isUncertain(['identity'])) return;
  if (upstream.runAs !== undefined || upstream.trusted) return;
  report(path, 'missing, in a stdio upstream for several people', '{ uid, gid } of a user of its own, or trusted: true when the program may see everyone’s secrets');
}
