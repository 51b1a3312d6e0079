/** Where secrets are put: headers that may be set, fields that exist, and targets that the upstream has. */
import { canonicalHeader, isConnectionHeader, isRelayHeader } from './headers.ts';
import { nearest, type Path } from './problem.ts';
import { namesIn } from './requirement.ts';
import type { Meaning, Report, Sections } from './sections.ts';
import type { Template } from './template.ts';

type Credential = NonNullable<Sections['credentials']>[string];
type Upstream = NonNullable<Sections['upstreams']>[string];
type Inject = Credential['inject'];

export function checkInjection(meaning: Meaning, report: Report): void {
  const { credentials = {}, upstreams = {} } = meaning.sections;
  for (const [name, credential] of Object.entries(credentials)) {
    const path = ['credentials', name];
    checkTargets([...path, 'inject'], credential.inject, credential, report);
    if (credential.kind === 'apiKey' && credential.verify !== undefined && 'url' in credential.verify) {
      checkHeaders([...path, 'verify', 'headers'], credential.verify.headers, isConnectionHeader, report);
      checkFields([...path, 'verify', 'headers'], credential.verify.headers, credential, report);
    }
  }
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name];
    if (upstream.transport !== 'stdio') checkHeaders([...path, 'headers'], upstream.headers, isRelayHeader, report);
    for (const [credentialName, inject] of Object.entries(upstream.inject)) {
      const at = [...path, 'inject', credentialName];
      if (!meaning.credentialNames.includes(credentialName)) report(at, 'no such credential', suggestion(credentialName, meaning.credentialNames));
      const credential = own(credentials, credentialName);
      if (credential !== undefined) checkTargets(at, inject, credential, report);
      if (upstream.transport !== 'stdio' && hasAny(inject.env)) report([...at, 'env'], `env for a ${upstream.transport} upstream`, 'headers, query, arguments or meta; env is for stdio');
    }
    checkReach(path, name, upstream, meaning, report);
  }
}

/** Looks an own key up: a credential may be called `constructor`. */
export function own<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  return known.length === 0 ? 'a credential of the section credentials' : `one of ${known.join(', ')}`;
}

function checkTargets(path: Path, inject: Inject, credential: Credential, report: Report): void {
  checkHeaders([...path, 'headers'], inject.headers, isRelayHeader, report);
  for (const target of ['headers', 'query', 'arguments', 'meta', 'env'] as const) {
    checkFields([...path, target], inject[target], credential, report);
  }
  checkArguments([...path, 'arguments'], Object.keys(inject.arguments), report);
  for (const key of Object.keys(inject.meta)) {
    if (isReservedMeta(key)) report([...path, 'meta', key], `${key}, a key of MCP itself`, 'a key of the upstream’s own');
  }
}

/** Dotted paths of arguments, none of which lies within another. */
function checkArguments(path: Path, dotted: readonly string[], report: Report): void {
  for (const one of dotted) {
    const isPath = one.split('.').every((key) => key !== '' && key !== '__proto__');
    if (!isPath) report([...path, one], `${one}, no path of an argument`, 'keys joined by dots, such as auth.token');
    const around = dotted.find((other) => one.startsWith(`${other}.`));
    if (around !== undefined) report([...path, one], `${one}, which lies within ${around}`, 'one of them');
  }
}

/** What the protocol and the proxy read in `_meta` (MCP 2026-07-28, basic, "_meta"). */
function isReservedMeta(key: string): boolean {
  return key === 'progressToken' || key === '__proto__' || /^(?:[^/]*\.)?(?:modelcontextprotocol|mcp)(?:\.[^/]*)?\//.test(key);
}

function checkHeaders(path: Path, headers: Readonly<Record<string, unknown>>, isReserved: (name: string) => boolean, report: Report): void {
  const seen = new Map<string, string>();
  for (const name of Object.keys(headers)) {
    const canonical = canonicalHeader(name);
    const first = seen.get(canonical);
    if (isReserved(name)) report([...path, name], `${name}, a header of the connection or of MCP itself`, 'another header');
    if (first !== undefined) report([...path, name], `${name}, the same header as ${first}`, 'each header once');
    seen.set(canonical, name);
  }
}

/** The fields that a secret of this kind has. */
function fieldsOf(credential: Credential): readonly string[] {
  switch (credential.kind) {
    case 'apiKey':
      return credential.fields.map((field) => field.name);
    case 'oauth':
      return ['access_token', 'id_token', 'token_type', 'scope'];
    case 'payment':
      return ['receipt'];
  }
}

function checkFields(path: Path, templates: Readonly<Record<string, Template>>, credential: Credential, report: Report): void {
  const known = fieldsOf(credential);
  for (const [key, template] of Object.entries(templates)) {
    const at = [...path, key];
    for (const field of template.fields.filter((name) => !known.includes(name))) {
      report(at, `{${field}}, an unknown field`, `a template of ${known.map((name) => `{${name}}`).join(', ')}`);
    }
  }
}

/** Every credential that a rule asks for is put somewhere that this upstream has. */
function checkReach(path: Path, name: string, upstream: Upstream, { sections, isUncertain }: Meaning, report: Report): void {
  const targets = upstream.transport === 'stdio' ? (['env', 'arguments', 'meta'] as const) : (['headers', 'query', 'arguments', 'meta'] as const);
  const asked = new Map<string, Path>();
  upstream.rules.forEach((rule, index) => {
    for (const required of namesIn(rule.requires)) if (!asked.has(required)) asked.set(required, [...path, 'rules', index, 'requires']);
  });
  for (const [required, at] of asked) {
    const credential = own(sections.credentials ?? {}, required);
    if (credential === undefined || credential.kind === 'payment') continue;
    if (isUncertain(['credentials', required]) || isUncertain([...path, 'inject'])) continue;
    const inject = own(upstream.inject, required) ?? credential.inject;
    const used = targets.filter((target) => hasAny(inject[target]));
    if (used.length === 1 && used[0] === 'arguments') checkArgumentsReach(path, required, upstream, report);
    if (used.length > 0) continue;
    report(
      at,
      `${required} is asked for, but nothing of it reaches ${name}`,
      `an entry in credentials.${required}.inject: ${targets.join(', ')} (${upstream.transport})`,
    );
  }
}

/** Only tools have arguments: where a rule is about something else, nothing of the credential would go along. */
function checkArgumentsReach(path: Path, required: string, { rules }: Upstream, report: Report): void {
  rules.forEach((rule, index) => {
    const isForOthers = rule.resources !== undefined || rule.prompts !== undefined;
    if (isForOthers && namesIn(rule.requires).includes(required)) {
      report([...path, 'rules', index, 'requires'], `${required} is put into tool arguments only, and resources and prompts have none`, 'headers, query or meta beside arguments, or a rule for tools');
    }
  });
}

function hasAny(map: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(map).length > 0;
}
