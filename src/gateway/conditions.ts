/**
 * `when` and `unless`: whether a rule applies to a call, by its arguments and its caller's claims. A pure
 * decision with three answers, because a client writes the arguments and a server may read them in its own
 * way: what cannot be judged protects. A rule applies unless its `when` certainly fails or its `unless`
 * certainly holds; a value of another kind than the file's, a text that differs only in case, space or
 * Unicode form, and a key that only looks like the one meant, are never certain.
 */
import type { Rule } from '../config/config.ts';
import type { Pattern } from '../config/pattern.ts';
import { isObject } from '../protocol/json-rpc.ts';

type Conditions = NonNullable<Rule['when']>;
type Condition = NonNullable<Conditions['arguments']>[string];
type Comparison = Exclude<Condition, Scalar | readonly Scalar[]>;
type Scalar = string | number | boolean | null;

/** What cannot be judged is neither. */
type Verdict = true | false | 'unsure';

/** What conditions are about. */
export interface Facts {
  /** The call's arguments; `unjudgeable` for requests that have none a condition could mean. */
  readonly arguments: unknown;
  /** The caller's, from a checked token: an array is a list of values, any of which counts. */
  readonly claims: unknown;
}

/** Stands for a value that nobody can read in one way only. */
export const unjudgeable = Symbol('unjudgeable');

export function applies({ when, unless }: Pick<Rule, 'when' | 'unless'>, facts: Facts): boolean {
  return (when === undefined || holds(when, facts) !== false) && (unless === undefined || holds(unless, facts) !== true);
}

/** All of them. */
function holds(conditions: Conditions, facts: Facts): Verdict {
  const written = Object.entries(conditions.arguments ?? {}).map(([path, condition]) => fromArguments(judge(find(facts.arguments, path, true), condition)));
  const claimed = Object.entries(conditions.claims ?? {}).map(([path, condition]) => judge(find(facts.claims, path, false), condition).verdict);
  return all([...written, ...claimed]);
}

interface Judged {
  readonly verdict: Verdict;
  /** Found in a list of values. */
  readonly isListed: boolean;
}

/** A list where the file has a single value: some servers take one of its values, nobody knows which. */
function fromArguments({ verdict, isListed }: Judged): Verdict {
  return isListed && verdict === true ? 'unsure' : verdict;
}

function judge(value: unknown, condition: Condition): Judged {
  if (!Array.isArray(value) || isPresence(condition)) return { verdict: one(value, condition), isListed: false };
  return { verdict: any(value.map((each: unknown) => judge(each, condition).verdict)), isListed: true };
}

/** `exists` alone asks about the whole value. */
function isPresence(condition: Condition): boolean {
  return isComparison(condition) && Object.keys(condition).every((key) => key === 'exists');
}

function one(value: unknown, condition: Condition): Verdict {
  if (isComparison(condition)) return compare(value, condition);
  const expected = Array.isArray(condition) ? (condition as readonly Scalar[]) : [condition as Scalar];
  return any(expected.map((each) => equals(value, each)));
}

function isComparison(condition: Condition): condition is Comparison {
  return isObject(condition);
}

function equals(value: unknown, expected: Scalar): Verdict {
  if (value === undefined || value === null) return value === expected;
  if (expected === null) return value === unjudgeable ? 'unsure' : false;
  if (typeof value !== typeof expected) return 'unsure';
  if (value === expected) return typeof value === 'number' && !isExact(value) ? 'unsure' : true;
  if (typeof value === 'string') return folded(value) === folded(String(expected)) ? 'unsure' : false;
  return false;
}

function compare(value: unknown, { gt, gte, lt, lte, matches, exists }: Comparison): Verdict {
  const verdicts: Verdict[] = [];
  const bound = (limit: number | undefined, isWithin: (number: number, limit: number) => boolean): void => {
    if (limit === undefined) return;
    if (value === undefined || value === null) verdicts.push(false);
    else verdicts.push(typeof value === 'number' && isExact(value) ? isWithin(value, limit) : 'unsure');
  };
  bound(gt, (number, limit) => number > limit);
  bound(gte, (number, limit) => number >= limit);
  bound(lt, (number, limit) => number < limit);
  bound(lte, (number, limit) => number <= limit);
  if (matches !== undefined) verdicts.push(isFound(value, matches));
  if (exists !== undefined) verdicts.push(value === unjudgeable || value === null ? 'unsure' : (value !== undefined) === exists);
  return all(verdicts);
}

function isFound(value: unknown, pattern: Pattern): Verdict {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return 'unsure';
  if (pattern.test(value)) return true;
  return pattern.test(plain(value)) ? 'unsure' : false;
}

/** Beyond this, what was written and what was read may differ. */
function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

/** @param isWritten by a client, whose keys may only look like the one meant */
function find(root: unknown, path: string, isWritten: boolean): unknown {
  let value = root;
  for (const step of stepsOf(path)) {
    if (value === undefined || value === null || value === unjudgeable) return value ?? undefined;
    if (Array.isArray(value) && /^\d+$/.test(step)) value = value[Number(step)];
    else if (!isObject(value)) return unjudgeable;
    else if (isWritten && hasLookalike(value, step)) return unjudgeable;
    else value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** A JSON pointer (RFC 6901) when it begins with /, dotted keys otherwise. */
function stepsOf(path: string): readonly string[] {
  if (!path.startsWith('/')) return path.split('.');
  return path.slice(1).split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function hasLookalike(object: Readonly<Record<string, unknown>>, meant: string): boolean {
  const wanted = foldedKey(meant);
  return Object.keys(object).some((key) => key !== meant && foldedKey(key) === wanted);
}

/** Some servers read `searchDepth` and `search_depth` as one. */
function foldedKey(key: string): string {
  const nul = key.indexOf('\0');
  return folded(nul === -1 ? key : key.slice(0, nul)).replace(/[_-]/g, '');
}

function folded(text: string): string {
  return plain(text).toLowerCase();
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '').trim();
}

function all(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(false)) return false;
  return verdicts.includes('unsure') ? 'unsure' : true;
}

function any(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes(true)) return true;
  return verdicts.includes('unsure') ? 'unsure' : false;
}
