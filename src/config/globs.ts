/**
 * Lists of names with `*` (any run), `?` (one character) and a leading `!` that takes names out again.
 * The list is read from left to right and the last entry that matches decides. Matching never
 * backtracks exponentially: a name is compared in at most name × glob steps.
 */
import { err, ok, type Result } from '../errors.ts';

export interface Globs {
  readonly source: readonly string[];
  /** @returns whether the name is in the list, read from left to right */
  readonly matches: (name: string) => boolean;
  /** All names, when the list has no wildcard and takes nothing out: for a lookup without a walk. */
  readonly exact?: ReadonlySet<string>;
}

interface Glob {
  readonly takesOut: boolean;
  readonly matches: (name: string) => boolean;
}

/** @returns the compiled list, or the words for what would be right */
export function parseGlobs(source: readonly string[]): Result<Globs, string> {
  if (source.length === 0) return err('at least one name, e.g. [get_me, "create_*"]; ["*"] for all');
  if (source.some((glob) => glob === '' || glob === '!')) return err('names that are not empty');
  if (source[0]?.startsWith('!') === true) {
    return err('a list that begins with what it contains, e.g. ["*", "!internal_*"]: a leading ! only takes names out again');
  }
  const isExact = source.every((glob) => !/[*?]/.test(glob) && !glob.startsWith('!'));
  if (isExact) {
    const exact = new Set(source);
    return ok({ source, exact, matches: (name) => exact.has(name) });
  }
  const globs = source.map(compile);
  return ok({ source, matches: (name) => globs.findLast((glob) => glob.matches(name))?.takesOut === false });
}

/** @returns whether one name can be in both lists; with wildcards they are apart only where no beginning of theirs is alike */
export function mayOverlap(one: Globs, other: Globs): boolean {
  if (one.exact !== undefined) return [...one.exact].some(other.matches);
  if (other.exact !== undefined) return [...other.exact].some(one.matches);
  const contained = ({ source }: Globs): readonly string[] => source.filter((glob) => !glob.startsWith('!'));
  return contained(one).some((glob) => contained(other).some((another) => goesOn(glob, another) || goesOn(another, glob)));
}

/** Whether the literal beginning of the one is a beginning of what the other matches, too. */
function goesOn(one: string, other: string): boolean {
  const [longer, beginning] = [literalStart(one), literalStart(other)];
  return longer.startsWith(beginning) && (beginning !== other || longer === other);
}

function literalStart(glob: string): string {
  return /^[^*?]*/.exec(glob)?.[0] ?? '';
}

function compile(source: string): Glob {
  const takesOut = source.startsWith('!');
  const glob = Array.from(takesOut ? source.slice(1) : source);
  const literal = glob.join('');
  if (!/[*?]/.test(literal)) return { takesOut, matches: (name) => name === literal };
  if (literal === '*') return { takesOut, matches: () => true };
  return { takesOut, matches: (name) => isMatch(glob, Array.from(name)) };
}

/** The two-pointer walk: on a mismatch only the last `*` takes one more character. */
function isMatch(glob: readonly string[], name: readonly string[]): boolean {
  let g = 0;
  let n = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (n < name.length) {
    if (glob[g] === '*') {
      lastStar = g;
      resumeAt = n;
      g += 1;
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === name[n])) {
      g += 1;
      n += 1;
    } else if (lastStar >= 0) {
      g = lastStar + 1;
      resumeAt += 1;
      n = resumeAt;
    } else {
      return false;
    }
  }
  while (glob[g] === '*') g += 1;
  return g === glob.length;
}
