/**
 * What the gateway must know about one upstream, worked out once from the file: its rules, what each of
 * its credentials puts into a request, and which headers of the client may go along.
 */
import { isCollected, type CollectedCredential } from '../collect/kinds.ts';
import type { Account } from '../collect/oauth/provider.ts';
import type { Config, Rule, Upstream as UpstreamConfig } from '../config/config.ts';
import { verifyOrigin } from '../config/destination.ts';
import { namesIn, type WrittenRequirement } from '../config/requirement.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { SecretSlot } from '../vault/secrets.ts';
import { applies, type Facts } from './conditions.ts';
import { createHiddenArguments, type HiddenArguments } from './hidden-arguments.ts';
import { destinationOf } from './destination.ts';
import { passingHeaders } from './request-headers.ts';
import { matchUris } from './resource-names.ts';
import type { Target } from './requested.ts';
import { placesOf, type Places } from './injected-places.ts';

export interface RequiredCredential extends Places {
  readonly config: CollectedCredential;
  /** The upstream's name; absent when one secret serves all upstreams that require it. */
  readonly place: string | undefined;
  /** Where the secret goes, sorted and joined by a space. */
  readonly destination: string;
  /** With `discover: upstream`: who names the third party. */
  readonly upstreamUrl?: URL | undefined;
}

/** What a rule asks for: any one of these credentials is enough. The same in several rules is one object. */
export interface Requirement {
  readonly anyOf: readonly RequiredCredential[];
  /** Scopes that the connected account must have granted. */
  readonly scopes?: readonly string[];
}

export interface CallRule {
  /** Whether it is about this tool, resource or prompt. */
  readonly names: (target: Target) => boolean;
  /** Whether its conditions leave it in force. */
  readonly applies: (facts: Facts) => boolean;
  readonly requires: readonly Requirement[];
}

export type Rejected = NonNullable<UpstreamConfig['rejected']>;

/** By default a 401 says it: nothing was executed then. */
const rejectedByDefault: Rejected = { status: [401], rpcError: [], maxPerHour: 3 };

export interface ProtectedUpstream {
  readonly config: UpstreamConfig;
  readonly adapter: Upstream;
  readonly rules: readonly CallRule[];
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
  /** Arguments that credentials fill in, and that lists of tools therefore leave out. */
  readonly hidden: HiddenArguments | undefined;
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

export function protectUpstream(config: Config, upstream: UpstreamConfig, adapter: Upstream): ProtectedUpstream {
  const credentials = new Map<string, RequiredCredential>();
  const requirements = new Map<string, Requirement>();
  const credential = (name: string): RequiredCredential => orMade(credentials, name, () => requiredCredential(config, upstream, name));
  const requirement = (written: WrittenRequirement): Requirement => {
    const names = [...new Set(namesIn([written]))];
    const scopes = typeof written !== 'string' && 'scopes' in written ? [...written.scopes].sort() : undefined;
    return orMade(requirements, JSON.stringify([names, scopes]), () => ({ anyOf: names.map(credential), ...(scopes === undefined ? {} : { scopes }) }));
  };
  const rules = upstream.rules.map((rule): CallRule => {
    return {
      names: namesOf(rule),
      applies: (facts) => applies(rule, facts),
      requires: rule.requires.map(requirement),
    };
  });
  const { headers: operatorHeaders, forwardHeaders } = upstream.transport === 'stdio' ? { headers: {}, forwardHeaders: [] } : upstream;
  const own = [...Object.keys(operatorHeaders), ...[...credentials.values()].flatMap(({ headers }) => headers.map(({ name }) => name))];
  return {
    config: upstream,
    adapter,
    rules,
    rejected: upstream.rejected ?? rejectedByDefault,
    requirements: [...requirements.values()],
    credentials: [...credentials.values()],
    operatorHeaders: Object.entries(operatorHeaders).flat(),
    passingHeaders: passingHeaders(forwardHeaders, own),
    hidden: createHiddenArguments(rules, upstream.attach === 'always' ? [...credentials.values()] : []),
  };
}

/** @returns whether the rule is about a tool, resource or prompt, whatever its conditions say */
export function namesOf({ tools, prompts, resources }: Rule): (target: Target) => boolean {
  const isNamed = { tool: tools?.matches, prompt: prompts?.matches, resource: resources === undefined ? undefined : matchUris(resources) };
  return ({ kind, name }) => isNamed[kind]?.(name) ?? false;
}

function orMade<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(key, fresh);
  return fresh;
}

function requiredCredential(config: Config, upstream: UpstreamConfig, name: string): RequiredCredential {
  const credential = config.credentials[name];
  if (!isCollected(credential)) throw new Error(`the credential ${name} is not one that this version can ask for`);
  return {
    config: credential,
    place: credential.shared ? undefined : upstream.name,
    ...(credential.kind === 'oauth' && credential.discover !== undefined && 'url' in upstream ? { upstreamUrl: upstream.url } : {}),
    destination: [...new Set([...(credential.shared ? originsOf(config, name) : [destinationOf(upstream)]), ...verifyOrigin(credential)])].sort().join(' '),
    ...placesOf(upstream.inject[name] ?? credential.inject),
  };
}

/** A shared secret goes to every upstream that requires it; adding one asks the person again. */
function originsOf(config: Config, credential: string): readonly string[] {
  const using = Object.values(config.upstreams).filter((upstream) => upstream.rules.some((rule) => namesIn(rule.requires).includes(credential)));
  return using.map(destinationOf);
}
