/** A rule in words, for the commands that explain a file. */
import type { Requirement, Rule } from '../config/config.ts';
import { isObject } from '../protocol/json-rpc.ts';

export interface ReportedRule {
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly prompts?: readonly string[];
  /** Each condition in words. */
  readonly when?: readonly string[];
  readonly unless?: readonly string[];
  readonly requires: readonly string[];
}

/** As data, for scripts. */
export function reportRule(rule: Rule): ReportedRule {
  return {
    ...(rule.tools === undefined ? {} : { tools: rule.tools.source }),
    ...(rule.resources === undefined ? {} : { resources: rule.resources.source }),
    ...(rule.prompts === undefined ? {} : { prompts: rule.prompts.source }),
    ...(rule.when === undefined ? {} : { when: conditionsInWords(rule.when) }),
    ...(rule.unless === undefined ? {} : { unless: conditionsInWords(rule.unless) }),
    requires: rule.requires.map(requirementName),
  };
}

/** What it is about, when, and what it asks for. */
export function ruleInWords({ tools, resources, prompts, when, unless, requires }: ReportedRule): string {
  const names = [tools?.join(', '), resources && `resources ${resources.join(', ')}`, prompts && `prompts ${prompts.join(', ')}`].filter((part) => part !== undefined);
  return `${names.join('; ')}${conditioned({ when, unless })}: asks for ${requires.join(' and ')}`;
}

/** The same for a tool that is named already. */
export function askedInWords({ requires, ...conditions }: ReportedRule): string {
  return `asks for ${requires.join(' and ')}${conditioned(conditions)}`;
}

function conditioned({ when, unless }: { readonly when?: readonly string[] | undefined; readonly unless?: readonly string[] | undefined }): string {
  return [when && ` when ${when.join(' and ')}`, unless && ` unless ${unless.join(' and ')}`].filter((part) => part !== undefined).join('');
}

const signs = { gt: '>', gte: '≥', lt: '<', lte: '≤' } as const;

function conditionsInWords(conditions: NonNullable<Rule['when']>): readonly string[] {
  const each = (kind: string, all: NonNullable<Rule['when']>['arguments'] = {}): readonly string[] => Object.entries(all).map(([path, condition]) => `${kind} ${path} ${conditionInWords(condition)}`);
  return [...each('argument', conditions.arguments), ...each('claim', conditions.claims)];
}

function conditionInWords(condition: unknown): string {
  if (Array.isArray(condition)) return `is ${condition.map((value) => JSON.stringify(value)).join(' or ')}`;
  if (!isObject(condition)) return `is ${JSON.stringify(condition)}`;
  const bounds = Object.entries(signs).flatMap(([key, sign]) => (condition[key] === undefined ? [] : [`${sign} ${JSON.stringify(condition[key])}`]));
  const { matches, exists } = condition;
  const pattern = isObject(matches) ? [`matches ${String(matches['source'])}`] : [];
  return [...bounds, ...pattern, ...(exists === undefined ? [] : [exists === true ? 'exists' : 'is absent'])].join(' and ');
}

/** One thing that a rule asks for. */
export function requirementName(requirement: Requirement): string {
  if (typeof requirement === 'string') return requirement;
  return 'anyOf' in requirement ? `any of ${requirement.anyOf.join(', ')}` : requirement.credential;
}
