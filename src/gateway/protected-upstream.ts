/**
 * What the gateway must know about one upstream, worked out once from the file: its rules, what each of
 * its credentials puts into a request, and which headers of the client may go along.
 */
import { isCollected, type CollectedCredential } from '../collect/kinds.ts';
import type { Account } from '../collect/oauth/provider.ts';
import type { Config, HttpUpstream } from '../config/config.ts';
import { namesIn, type WrittenRequirement } from '../config/requirement.ts';
import type { Template } from '../config/template.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { SecretSlot } from '../vault/secrets.ts';
import { passingHeaders } from './request-headers.ts';

export interface HeaderTemplate {
  /** As it is sent. */
  readonly name: string;
  readonly value: Template;
}

export interface RequiredCredential {
  readonly config: CollectedCredential;
  /** The upstream's name; absent when one secret serves all upstreams that require it. */
  readonly place: string | undefined;
  /** Origins to which the secret goes, sorted and joined by a space. */
  readonly destination: string;
  readonly headers: readonly HeaderTemplate[];
  /** With `discover: upstream`: who names the third party. */
  readonly upstreamUrl?: URL | undefined;
}

/** What a rule asks for: any one of these credentials is enough. The same in several rules is one object. */
export interface Requirement {
  readonly anyOf: readonly RequiredCredential[];
  /** Scopes that the connected account must have granted. */
  readonly scopes?: readonly string[];
}

export interface ToolRule {
  readonly matches: (tool: string) => boolean;
  readonly requires: readonly Requirement[];
}

export type Rejected = NonNullable<HttpUpstream['rejected']>;

/** By default a 401 says it: nothing was executed then. */
const rejectedByDefault: Rejected = { status: [401], rpcError: [], maxPerHour: 3 };

export interface ProtectedUpstream {
  readonly config: HttpUpstream;
  readonly adapter: Upstream;
  readonly rules: readonly ToolRule[];
  /** How this upstream says that a credential is bad. */
  readonly rejected: Rejected;
  /** What any of its rules asks for, each once. */
  readonly requirements: readonly Requirement[];
  /** Every credential that a rule of this upstream names, each once. */
  readonly credentials: readonly RequiredCredential[];
  /** The operator's own headers: name, value, name, value …, for requests that carry no user credential. */
  readonly operatorHeaders: readonly string[];
  /** Names of client headers that go along, in lower case; nothing that the proxy itself puts in. */
  readonly passingHeaders: ReadonlySet<string>;
}

/** The account that a credential is, if it is one. */
export function accountOf({ config, upstreamUrl }: RequiredCredential): Account | undefined {
  return config.kind === 'oauth' ? { config, upstreamUrl } : undefined;
}

/** Where a person's secret for a credential is kept. */
export function secretSlot({ issuer, subject }: { readonly issuer: string; readonly subject: string }, { config, place }: RequiredCredential): SecretSlot {
  return { issuer, subject, credential: config.name, ...(place === undefined ? {} : { upstream: place }) };
}

/** The question that a requirement puts: its credential's name, or the sorted names of a choice. */
export function questionName({ anyOf }: Requirement): string {
  return anyOf.map(({ config }) => config.name).sort().join('|');
}

/** Where that question is kept: with one upstream, unless every answer serves all. */
export function questionPlace({ anyOf }: Requirement): string | undefined {
  return anyOf.find(({ place }) => place !== undefined)?.place;
}

export function protectUpstream(config: Config, upstream: HttpUpstream, adapter: Upstream): ProtectedUpstream {
  const credentials = new Map<string, RequiredCredential>();
  const requirements = new Map<string, Requirement>();
  const credential = (name: string): RequiredCredential => orMade(credentials, name, () => requiredCredential(config, upstream, name));
  const requirement = (written: WrittenRequirement): Requirement => {
    const names = [...new Set(namesIn([written]))];
    const scopes = typeof written !== 'string' && 'scopes' in written ? [...written.scopes].sort() : undefined;
    return orMade(requirements, JSON.stringify([names, scopes]), () => ({ anyOf: names.map(credential), ...(scopes === undefined ? {} : { scopes }) }));
  };
  const rules = upstream.rules.map((rule): ToolRule => {
    const tools = rule.tools;
    return { matches: (tool) => tools?.matches(tool) ?? false, requires: rule.requires.map(requirement) };
  });
  const own = [...Object.keys(upstream.headers), ...[...credentials.values()].flatMap(({ headers }) => headers.map(({ name }) => name))];
  return {
    config: upstream,
    adapter,
    rules,
    rejected: upstream.rejected ?? rejectedByDefault,
    requirements: [...requirements.values()],
    credentials: [...credentials.values()],
    operatorHeaders: Object.entries(upstream.headers).flat(),
    passingHeaders: passingHeaders(upstream.forwardHeaders, own),
  };
}

function orMade<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(key, fresh);
  return fresh;
}

function requiredCredential(config: Config, upstream: HttpUpstream, name: string): RequiredCredential {
  const credential = config.credentials[name];
  if (!isCollected(credential)) throw new Error(`the credential ${name} is not one that this version can ask for`);
  return {
    config: credential,
    place: credential.shared ? undefined : upstream.name,
    destination: credential.shared ? originsOf(config, name).join(' ') : upstream.url.origin,
    ...(credential.kind === 'oauth' && credential.discover !== undefined ? { upstreamUrl: upstream.url } : {}),
    headers: Object.entries(credential.inject.headers).map(([header, value]) => ({ name: header, value })),
  };
}

/** A shared secret goes to every upstream that requires it; adding one asks the person again. */
function originsOf(config: Config, credential: string): string[] {
  const upstreams = Object.values(config.upstreams).filter((upstream): upstream is HttpUpstream => 'url' in upstream);
  const using = upstreams.filter((upstream) => upstream.rules.some((rule) => namesIn(rule.requires).includes(credential)));
  return [...new Set(using.map((upstream) => upstream.url.origin))].sort();
}
