/** Which rules are about which tools of an upstream, and what an operator should look at: pure, over the file and a list of tools. */
import type { Rule, Upstream } from '../config/config.ts';
import { applies } from '../gateway/conditions.ts';
import { namesOf } from '../gateway/protected-upstream.ts';
import { shown, type ListedTool } from './ask-tools.ts';

export interface CoveredTool {
  readonly name: string;
  /** Places in `rules`, from 0. */
  readonly rules: readonly number[];
}

export function coverTools({ rules }: Upstream, tools: readonly ListedTool[]): readonly CoveredTool[] {
  const named = rules.map(namesOf);
  return tools.map(({ name }) => ({ name, rules: named.flatMap((names, index) => (names({ kind: 'tool', name }) ? [index] : [])) }));
}

/** @returns sentences: rules that match no tool, tools without a rule, conditions that a call escapes by leaving an argument out */
export function warningsFor(upstream: Upstream, tools: readonly ListedTool[]): readonly string[] {
  const covered = coverTools(upstream, tools);
  const used = new Set(covered.flatMap(({ rules }) => rules));
  const free = covered.filter(({ rules }) => rules.length === 0).map(({ name }) => shown(name));
  const idle = upstream.rules.flatMap(({ tools: globs }, index) => (globs === undefined || used.has(index) ? [] : [`${placeOf(upstream, index)}: no tool there is called ${globs.source.map(shownGlob).join(', ')}.`]));
  const open = upstream.rules.flatMap((rule, index) => escapes(rule, tools).map((path) => `${placeOf(upstream, index)}: a call that leaves out the argument ${shown(path)} is not asked for anything by this rule.`));
  const isProtected = upstream.rules.length > 0;
  return [...idle, ...(isProtected && free.length > 0 ? [`upstreams.${upstream.name}: no rule is about ${free.join(', ')}; they pass as they are.`] : []), ...open];
}

/** How the file names one of its rules. */
export function placeOf({ name }: Upstream, index: number): string {
  return `upstreams.${name}.rules[${index}]`;
}

/** Arguments without which the rule does not apply, unless each of its tools requires them. */
function escapes(rule: Rule, tools: readonly ListedTool[]): readonly string[] {
  const names = namesOf(rule);
  const own = tools.filter(({ name }) => names({ kind: 'tool', name }));
  const conditions = Object.entries(rule.when?.arguments ?? {});
  return conditions.flatMap(([path, condition]) => {
    const isHeld = applies({ when: { arguments: { [path]: condition } } }, { arguments: {}, claims: {} });
    const isSaid = typeof condition === 'object' && condition !== null && 'exists' in condition && condition.exists;
    const isRequired = own.length > 0 && own.every(({ required }) => required.includes(firstStep(path)));
    return isHeld || isSaid || isRequired ? [] : [path];
  });
}

function firstStep(path: string): string {
  if (!path.startsWith('/')) return path.split('.', 1)[0] ?? path;
  return (path.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
}

function shownGlob(glob: string): string {
  return shown(glob.replace(/[*?!]/g, '')) === glob.replace(/[*?!]/g, '') ? glob : JSON.stringify(glob);
}
