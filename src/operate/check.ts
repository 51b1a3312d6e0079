/**
 * `elicitgate check`: what a valid file means, in words and as data, and with the upstreams asked what each
 * of their tools needs. Secrets print as `[set]`; names that upstreams choose print without control characters.
 */
import { openOutbound, reachUpstream, type Edge } from '../app.ts';
import type { Config, Upstream } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import { unbuilt } from '../config/unbuilt.ts';
import { createIssuer } from '../identity/issuer.ts';
import { askTools, shown, toolsIn, type AskedTools } from './ask-tools.ts';
import { coverTools, warningsFor } from './coverage.ts';
import { describeError } from './log.ts';
import { askedInWords, reportRule, ruleInWords, type ReportedRule } from './rule-words.ts';

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

/** What was found out there. */
export interface LiveReport {
  readonly upstreams: readonly {
    readonly name: string;
    /** Who named the tools. */
    readonly tellsTools: 'upstream' | 'catalogue' | 'nobody';
    readonly tools: readonly { readonly name: string; readonly rules: readonly ReportedRule[] }[];
  }[];
  /** What an operator should look at. */
  readonly warnings: readonly string[];
  /** What cannot work as it is: somebody who does not answer. */
  readonly failures: readonly string[];
}

const limitMs = 15_000;

/** Asks every upstream and issuer of the file. */
export async function askAround(config: Config, edge: Pick<Edge, 'now' | 'signalGroup'>): Promise<LiveReport> {
  const [upstreams, issuers] = await Promise.all([
    Promise.all(Object.values(config.upstreams).map((upstream) => askOne(config, upstream, edge))),
    askIssuers(config, edge),
  ]);
  return {
    upstreams: upstreams.map(({ report }) => report),
    warnings: upstreams.flatMap(({ warnings }) => warnings),
    failures: [...upstreams.flatMap(({ failures }) => failures), ...issuers],
  };
}

async function askOne(config: Config, upstream: Upstream, edge: Pick<Edge, 'now' | 'signalGroup'>) {
  const reached = reachUpstream(config, upstream, edge);
  let asked: AskedTools;
  try {
    asked = await askTools(reached, limitMs);
  } finally {
    await reached.adapter.close();
  }
  const place = `upstreams.${upstream.name}`;
  const fromFile: readonly unknown[] = upstream.catalogue === undefined ? [] : (JSON.parse(upstream.catalogue.tools) as unknown[]);
  const tools = asked.kind === 'listed' ? asked.tools : toolsIn(fromFile);
  const tellsTools = asked.kind === 'listed' ? 'upstream' : upstream.catalogue === undefined ? 'nobody' : 'catalogue';
  const covered = coverTools(upstream, tools).map(({ name, rules }) => ({ name, rules: upstream.rules.filter((_rule, index) => rules.includes(index)).map(reportRule) }));
  const hint = upstream.catalogue === undefined ? ' Its tools were not compared with the rules; a catalogue names them for people without a credential, and for this check.' : '';
  return {
    report: { name: upstream.name, tellsTools, tools: covered } as const,
    warnings: [...(asked.kind === 'refused' ? [`${place}: ${asked.reason}.${hint}`] : []), ...(tellsTools === 'nobody' ? [] : warningsFor(upstream, tools))],
    failures: asked.kind === 'unreachable' ? [`${place}: ${addressOf(upstream)} cannot be asked (${asked.reason}).`] : [],
  };
}

async function askIssuers(config: Config, { now }: Pick<Edge, 'now'>): Promise<readonly string[]> {
  const issuers = new Set([config.identity, config.identity.pages ?? {}].flatMap((ways: Pick<Config['identity'], 'oauth'>) => ways.oauth?.issuer ?? []));
  if (issuers.size === 0) return [];
  const outbound = openOutbound(config);
  const ask = async (issuer: string): Promise<readonly string[]> => {
    try {
      await createIssuer({ issuer }, outbound.fetch, now).configuration();
      return [];
    } catch (error) {
      return [`identity.oauth.issuer: ${issuer} does not describe itself (${describeError(error)}).`];
    }
  };
  try {
    return (await Promise.all([...issuers].map(ask))).flat();
  } finally {
    await outbound.close();
  }
}

export function formatLive({ upstreams, warnings, failures }: LiveReport): string {
  const lines = upstreams.flatMap(({ name, tellsTools, tools }) => {
    if (tellsTools === 'nobody') return [];
    const told = tools.map((tool) => `  ${shown(tool.name)}: ${tool.rules.length === 0 ? 'passes' : tool.rules.map(askedInWords).join('; ')}`);
    return ['', `Tools of ${name}${tellsTools === 'catalogue' ? ' (from its catalogue)' : ''}:`, ...told];
  });
  if (warnings.length > 0) lines.push('', 'Worth a look:', ...warnings.map((warning) => `  ${warning}`));
  if (failures.length > 0) lines.push('', 'Does not work now:', ...failures.map((failure) => `  ${failure}`));
  if (warnings.length + failures.length === 0) lines.push('', 'Everybody answers, and the rules fit.');
  return `${lines.join('\n')}\n`;
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

/** Without arguments or a query: they may hold a key of the operator's. */
function addressOf(upstream: Upstream): string {
  return upstream.transport === 'stdio' ? `${upstream.command} (arguments: ${upstream.args.length} [set])` : upstream.url.origin + upstream.url.pathname;
}
