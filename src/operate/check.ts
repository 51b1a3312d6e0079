/** `elicitgate check --offline`: what a valid file means, in words and as data. Secrets print as `[set]`. */
import type { Config, Upstream } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import { unbuilt } from '../config/unbuilt.ts';

export interface CheckReport {
  readonly valid: true;
  readonly publicUrl: string;
  readonly store: string;
  readonly keys: string;
  readonly upstreams: readonly {
    readonly name: string;
    readonly address: string;
    readonly at: string;
    readonly rules: readonly { readonly tools: readonly string[]; readonly requires: readonly string[] }[];
  }[];
  readonly credentials: readonly { readonly name: string; readonly kind: string; readonly title: string }[];
  /** What this version cannot run yet. */
  readonly notYet: readonly string[];
}

export function reportOn(config: Config): CheckReport {
  const { publicUrl } = config.server;
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
      rules: upstream.rules.map((rule) => ({ tools: [...(rule.tools?.source ?? []), ...(rule.resources?.source ?? []), ...(rule.prompts?.source ?? [])], requires: rule.requires.map(requirementName) })),
    })),
    credentials: Object.values(config.credentials).map((credential) => ({ name: credential.name, kind: credential.kind, title: textIn(credential.title, 'en') })),
    notYet: unbuilt(config).map((part) => part.message),
  };
}

export function formatReport(report: CheckReport): string {
  const lines = [`The file is valid. Elicitgate will answer at ${report.publicUrl}`, `Secrets: ${report.store}, keys ${report.keys}`];
  for (const upstream of report.upstreams) {
    lines.push('', `${upstream.name}: ${upstream.at} → ${upstream.address}`);
    if (upstream.rules.length === 0) lines.push('  no rules: everything passes');
    for (const rule of upstream.rules) lines.push(`  ${rule.tools.join(', ')}: asks for ${rule.requires.join(' and ')}`);
  }
  if (report.credentials.length > 0) lines.push('', 'Credentials:', ...report.credentials.map((one) => `  ${one.name} (${one.kind}): ${one.title}`));
  if (report.notYet.length > 0) lines.push('', 'This version cannot run all of it yet:', ...report.notYet.map((message) => `  ${message}`));
  return `${lines.join('\n')}\n`;
}

/** Without arguments or a query: they may hold a key of the operator's. */
function addressOf(upstream: Upstream): string {
  return upstream.transport === 'stdio' ? `${upstream.command} (arguments: ${upstream.args.length} [set])` : upstream.url.origin + upstream.url.pathname;
}

function requirementName(requirement: Upstream['rules'][number]['requires'][number]): string {
  if (typeof requirement === 'string') return requirement;
  return 'anyOf' in requirement ? `any of ${requirement.anyOf.join(', ')}` : requirement.credential;
}
