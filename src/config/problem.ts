/**
 * What is wrong with a configuration, and where. A problem never repeats a secret: values that came
 * from `${…}` and values in a secret place read `[set]`, and so does what a URL carries beside its host.
 */

/** Where something stands in a file; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Keys and list positions from the top of the file. */
export type Path = readonly (string | number)[];

/** Something wrong at a path, before its place in a file is known. */
export interface Finding {
  readonly path: Path;
  readonly found: string;
  readonly right: string;
}

export interface Problem extends Place {
  /** The dotted path of the key, e.g. `upstreams.github.rules[0].tools`; empty for the file as a whole. */
  readonly path: string;
  readonly found: string;
  readonly right: string;
}

/** @returns `FILE:LINE:COLUMN key.path: what was found; what would be right` */
export function formatProblem(problem: Problem): string {
  const { file, line, column, path, found, right } = problem;
  return `${file}:${line}:${column} ${path === '' ? '(file)' : path}: ${found}; ${right}`;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** @returns the words for a value of the file; never its secret part */
export function describe(value: unknown, isSecret: boolean): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  if (isSecret) return '[set]';
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value === '') return 'an empty text';
  const shown = hideUrlSecrets(value);
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown);
}

function hideUrlSecrets(value: string): string {
  return value.replace(/:\/?\/?[^/?#]*@/, '://[set]@').replace(/^([a-z+.-]+:[^?]*\?).*$/is, '$1[set]');
}

/**
 * @param name what was written
 * @param known what could have been meant
 * @returns the one that was most probably meant
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const flat = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(flat(name), flat(candidate));
    const isNear = distance <= Math.max(1, Math.floor(candidate.length / 3)) && distance < candidate.length;
    if (isNear && distance < (best?.distance ?? Infinity)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** Insertions, deletions, changes and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 8) return Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
