/** `elicitgate check --offline`: what a valid file means, in words and as data. Secrets print as `[set]`. */
import type { Config, Rule, Upstream } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import { unbuilt } from '../config/unbuilt.ts';
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

export interface CheckReport {
  readonly valid: true;
  readonly publicUrl: string;
  readonly store: string;
  readonly keys: string;
  readonly upstreams: readonly {
    readonly name: string;
    readonly address: string;
    readonly at: string;
    /** A single upstream answers here, too. */
    readonly alsoAt?: string;
    readonly rules: readonly ReportedRule[];
  }[];
  readonly credentials: readonly { readonly name: string; readonly kind: string; readonly title: string }[];
  /** What this version cannot run yet. */
  readonly notYet: readonly string[];
}

export function reportOn(config: Config): CheckReport {
  const { publicUrl } = config.server;
  const isAlone = Object.keys(config.upstreams).length === 1;
  const base = publicUrl.href.replace(/\/$/, '');
  return {
    valid: true,
    publicUrl: base,
    store: config.vault.store.kind === 'sqlite' ? `sqlite:${config.vault.store.path}` : config.vault.store.kind,
    keys: `${config.vault.keys.length} [set]`,
    upstreams: Object.values(config.upstreams).map((upstream) => ({
      name: upstream.name,
      address: addressOf(upstream),
      at: base + upstream.path,
      ...(isAlone && upstream.path !== '/mcp' ? { alsoAt: `${base}/mcp` } : {}),
      rules: upstream.rules.map(reportRule),
    })),
    credentials: Object.values(config.credentials).map((credential) => ({ name: credential.name, kind: credential.kind, title: textIn(credential.title, 'en') })),
    notYet: unbuilt(config).map((part) => part.message),
  };
}

export function formatReport(report: CheckReport): string {
  const lines = [`The file is valid. Elicitgate will answer at ${report.publicUrl}`, `Secrets: ${report.store}, keys ${report.keys}`];
  for (const upstream of report.upstreams) {
    lines.push('', `${upstream.name}: ${upstream.at}${upstream.alsoAt === undefined ? '' : ` and ${upstream.alsoAt}`} → ${upstream.address}`);
    if (upstream.rules.length === 0) lines.push('  no rules: everything passes');
    for (const rule of upstream.rules) lines.push(`  ${ruleInWords(rule)}`);
  }
  if (report.credentials.length > 0) lines.push('', 'Credentials:', ...report.credentials.map((one) => `  ${one.name} (${one.kind}): ${one.title}`));
  if (report.notYet.length > 0) lines.push('', 'This version cannot run all of it yet:', ...report.notYet.map((message) => `  ${message}`));
  return `${lines.join('\n')}\n`;
}

function reportRule(rule: Rule): ReportedRule {
  return {
    ...(rule.tools === undefined ? {} : { tools: rule.tools.source }),
    ...(rule.resources === undefined ? {} : { resources: rule.resources.source }),
    ...(rule.prompts === undefined ? {} : { prompts: rule.prompts.source }),
    ...(rule.when === undefined ? {} : { when: conditionsInWords(rule.when) }),
    ...(rule.unless === undefined ? {} : { unless: conditionsInWords(rule.unless) }),
    requires: rule.requires.map(requirementName),
  };
}

function ruleInWords({ tools, resources, prompts, when, unless, requires }: ReportedRule): string {
  const names = [tools?.join(', '), resources && `resources ${resources.join(', ')}`, prompts && `prompts ${prompts.join(', ')}`].filter((part) => part !== undefined);
  const conditions = [when && ` when ${when.join(' and ')}`, unless && ` unless ${unless.join(' and ')}`].filter((part) => part !== undefined);
  return `${names.join('; ')}${conditions.join('')}: asks for ${requires.join(' and ')}`;
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

/** Without arguments or a query: they may hold a key of the operator's. */
function addressOf(upstream: Upstream): string {
  return upstream.transport === 'stdio' ? `${upstream.command} (arguments: ${upstream.args.length} [set])` : upstream.url.origin + upstream.url.pathname;
}

function requirementName(requirement: Upstream['rules'][number]['requires'][number]): string {
  if (typeof requirement === 'string') return requirement;
  return 'anyOf' in requirement ? `any of ${requirement.anyOf.join(', ')}` : requirement.credential;
}
