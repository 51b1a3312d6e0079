/**
 * `elicitgate explain`: why one call would pass or be asked for something, by the rules of the file and the
 * same decisions as a call meets. Nothing is sent, and nobody's credentials are read.
 */
import type { Config, Upstream } from '../config/config.ts';
import { namesIn } from '../config/requirement.ts';
import { err, ok, type Result } from '../errors.ts';
import { applies, unjudgeable } from '../gateway/conditions.ts';
import { namesOf } from '../gateway/protected-upstream.ts';
import type { Target } from '../gateway/requested.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { shown } from './ask-tools.ts';
import { placeOf } from './coverage.ts';
import { reportRule, requirementName, ruleInWords, type ReportedRule } from './rule-words.ts';

/** As they stand on the command line. */
export interface ExplainOptions {
  readonly upstream?: string;
  readonly tool?: string;
  readonly resource?: string;
  readonly prompt?: string;
  /** JSON objects. */
  readonly arguments?: string;
  readonly claims?: string;
}

export interface Explanation {
  readonly upstream: string;
  readonly about: Target;
  /** `pass`: as it is. `ask`: with what the person has given; she is asked for what is missing. */
  readonly outcome: 'pass' | 'ask';
  readonly requires: readonly string[];
  /** What goes along although no rule of this call asks for it (`attach: always`), where the person has given it. */
  readonly attached: readonly string[];
  /** What a client gets that cannot be given a link. */
  readonly fallback: 'text' | 'refuse';
  readonly rules: readonly {
    readonly place: string;
    readonly rule: ReportedRule;
    readonly verdict: 'applies' | 'another name' | 'conditions do not hold';
  }[];
}

/** @returns the explanation, or one sentence about the command line */
export function explain(config: Config, options: ExplainOptions): Result<Explanation, string> {
  const upstream = chosen(config, options.upstream);
  if (!upstream.ok) return upstream;
  const about = targetIn(options);
  if (!about.ok) return about;
  const given = objectIn('--arguments', options.arguments);
  if (!given.ok) return given;
  const claims = objectIn('--claims', options.claims);
  if (!claims.ok) return claims;
  // Reading a resource has no arguments.
  const facts = { arguments: about.value.kind === 'resource' ? unjudgeable : given.value, claims: claims.value };
  const { rules, attach } = upstream.value;
  const verdicts = rules.map((rule) => (!namesOf(rule)(about.value) ? 'another name' : applies(rule, facts) ? 'applies' : 'conditions do not hold'));
  const required = rules.filter((_rule, index) => verdicts[index] === 'applies').flatMap(({ requires }) => requires);
  const asked = namesIn(required);
  return ok({
    upstream: upstream.value.name,
    about: about.value,
    outcome: required.length > 0 ? 'ask' : 'pass',
    requires: [...new Set(required.map(requirementName))],
    attached: attach === 'always' ? [...new Set(rules.flatMap(({ requires }) => namesIn(requires)))].filter((name) => !asked.includes(name)) : [],
    fallback: upstream.value.fallback ?? config.elicitation.fallback,
    rules: rules.map((rule, index) => ({ place: placeOf(upstream.value, index), rule: reportRule(rule), verdict: verdicts[index] ?? 'another name' })),
  });
}

export function formatExplanation({ upstream, about, outcome, requires, attached, fallback, rules }: Explanation): string {
  const lines = [`The ${about.kind} ${shown(about.name)} of ${upstream}:`, ...rules.map(({ place, rule, verdict }) => `  ${place}: ${verdict} (${ruleInWords(rule)})`)];
  if (rules.length === 0) lines.push('  this upstream has no rules');
  lines.push('');
  if (outcome === 'pass') {
    lines.push('It passes as it is: no rule asks for anything.');
  } else {
    lines.push(`It needs ${requires.join(' and ')}. Of a person who has given that, it passes with it; another one is asked on a page.`);
    lines.push(fallback === 'text' ? 'A client that cannot be given a link gets the address of the page as text.' : 'A client that cannot be given a link is refused.');
  }
  if (attached.length > 0) lines.push(`What the person has given of ${attached.join(', ')} goes along, too (attach: always).`);
  return `${lines.join('\n')}\n`;
}

function chosen({ upstreams }: Config, name: string | undefined): Result<Upstream, string> {
  const names = Object.keys(upstreams);
  const [only] = Object.values(upstreams);
  if (name === undefined) return only !== undefined && names.length === 1 ? ok(only) : err(`Say which upstream is meant: --upstream ${names.join(' or ')}.`);
  const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined;
  return upstream === undefined ? err(`The file has no upstream ${shown(name)}; it has ${names.join(', ')}.`) : ok(upstream);
}

function targetIn(options: ExplainOptions): Result<Target, string> {
  const kinds = (['tool', 'resource', 'prompt'] as const).flatMap((kind) => {
    const name = options[kind];
    return name === undefined ? [] : [{ kind, name }];
  });
  const [target] = kinds;
  return target === undefined || kinds.length > 1 ? err('Say what is called: one of --tool NAME, --resource URI and --prompt NAME.') : ok(target);
}

function objectIn(option: string, text: string | undefined): Result<JsonObject, string> {
  if (text === undefined) return ok({});
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err(`${option} is no JSON; a JSON object is meant, e.g. '{"depth": "deep"}'.`);
  }
  return isObject(value) ? ok(value) : err(`${option} is no JSON object; one is meant, e.g. '{"depth": "deep"}'.`);
}
