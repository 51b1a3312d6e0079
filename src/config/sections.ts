/**
 * The file's data against the schema: the parsed file when it is right, otherwise every finding, and
 * the sections, credentials and upstreams that are right by themselves, so that their meaning can be
 * checked in the same run.
 */
import * as z from 'zod';
import { describe, nearest, type Finding, type Path } from './problem.ts';
import { hintsFor, type Hints } from './hints.ts';
import { fileSchema, type ParsedFile } from './schema.ts';
import { toPlain, treeAt, type Tree } from './tree.ts';

/** What is right by itself. */
export type Sections = Partial<ParsedFile>;

/** What the checks of the meaning look at. */
export interface Meaning {
  readonly sections: Sections;
  /** All names that the file gives to credentials, also to those that are wrong. */
  readonly credentialNames: readonly string[];
  /** Whether a value came from the environment or a file, so that no message may quote from it. */
  readonly isFromOutside: (path: Path) => boolean;
  /** Whether something at, above or below the path was left out because it is wrong. */
  readonly isUncertain: (path: Path) => boolean;
}

export type Report = (path: Path, found: string, right: string) => void;

type Issue = z.core.$ZodIssue;
type Data = Record<string | number, unknown>;

export interface Checked {
  /** The whole file; absent when anything is wrong. */
  readonly file?: ParsedFile;
  readonly sections: Sections;
  /** What had to be left out to get there. */
  readonly leftOut: readonly Path[];
  readonly findings: readonly Finding[];
}

/** @param tree the file after interpolation */
export function checkSections(tree: Tree): Checked {
  const plain = toPlain(tree);
  const { file, issues } = parse(plain);
  if (file !== undefined) return { file, sections: file, leftOut: [], findings: [] };
  const hints = hintsFor(plain);
  const findings = issues.flatMap((issue) => toFindings(issue, tree, hints));
  return { ...rightParts(plain, issues), findings };
}

/** Keys beginning with `x-` are taken out where the schema does not know them, then it is asked again. */
function parse(plain: unknown): { readonly file?: ParsedFile; readonly issues: readonly Issue[] } {
  // A file is parsed once: compiling a parser for it would take longer than it saves.
  const result = fileSchema.safeParse(plain, { error: (issue) => rightWords(issue as Issue), jitless: true });
  if (result.success) return { file: result.data, issues: [] };
  const issues = result.error.issues.flatMap((issue) => flatten(issue));
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys' || code === 'invalid_key');
  const extensions = unknown.flatMap(culprits).filter((path) => String(path.at(-1)).startsWith('x-'));
  for (const path of extensions) remove(plain, path);
  return extensions.length > 0 ? parse(plain) : { issues };
}

/** What an issue is about: each unknown key, each wrong name, the wrong value. */
function culprits(issue: Issue): readonly Path[] {
  const path = issue.path as Path;
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
}

/** A union's issues become those of the variant that was probably meant. */
function flatten(issue: Issue, prefix: readonly PropertyKey[] = []): readonly Issue[] {
  const path = [...prefix, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ ...issue, path }];
  const isOtherType = (errors: readonly Issue[]) =>
    errors.some(({ code, path: at }) => at.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));
  const meant = issue.errors.filter((errors) => !isOtherType(errors)).sort((a, b) => a.length - b.length)[0];
  if (meant !== undefined) return meant.flatMap((inner) => flatten(inner, path));
  const message = [...new Set(issue.errors.flat().map((inner) => inner.message))].join(', or ');
  return [{ ...issue, path, message }];
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text (in quotes, when it looks like a number or a yes or no)',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};

/** What would be right, for issues whose schema does not say it itself. */
function rightWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? 'another kind of value';
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options.filter((option) => option !== undefined)) : 'another value';
    case 'too_small':
      return issue.origin === 'array' ? 'at least one entry' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return 'another value';
  }
}

function oneOf(values: readonly unknown[]): string {
  return values.map(String).join(', ').replace(/, ([^,]*)$/, ' or $1');
}

function toFindings(issue: Issue, tree: Tree, hints: Hints): readonly Finding[] {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key, hints));
  const here = treeAt(tree, path);
  if (issue.code === 'invalid_key') {
    return [{ path, found: 'a name that cannot stand here', right: issue.issues[0]?.message ?? issue.message }];
  }
  if (here === undefined) {
    const purpose = hints.descriptionOf(path);
    return [{ path, found: 'missing', right: purpose === undefined ? issue.message : `${issue.message}: ${purpose}` }];
  }
  const isSecret = (here.kind === 'scalar' && here.isFromOutside === true) || hints.isSecret(path);
  return [{ path, found: describe(toPlain(here), isSecret), right: issue.message }];
}

function unknownKey(path: Path, key: string, hints: Hints): Finding {
  const known = hints.keysAt(path);
  const meant = nearest(key, known);
  const elsewhere = hints.otherVariant(path, key);
  const right =
    elsewhere !== undefined
      ? `it belongs to ${elsewhere}`
      : meant !== undefined
        ? `did you mean ${meant}?`
        : `one of ${known.join(', ')}; names of your own begin with x-`;
  return { path: [...path, key], found: 'an unknown key', right };
}

/** The file without what is wrong in it, so that the meaning of the rest can be checked. */
function rightParts(plain: unknown, issues: readonly Issue[]): { readonly sections: Sections; readonly leftOut: readonly Path[] } {
  const leftOut: Path[] = [];
  let rest = issues;
  while (rest.length > 0) {
    for (const path of rest.flatMap(culprits)) {
      const isGone = leftOut.some((gone) => gone.length < path.length && isPrefix(gone, path));
      if (!isGone) leftOut.push(remove(plain, path));
    }
    if (leftOut.some((path) => path.length === 0)) return { sections: {}, leftOut };
    const gone = leftOut.filter((path) => path.length === 1).map(([section]) => section);
    const shape = Object.entries(fileSchema.shape).filter(([section]) => !gone.includes(section));
    const result = z.strictObject(Object.fromEntries(shape)).safeParse(plain);
    if (result.success) return { sections: result.data, leftOut };
    rest = result.error.issues.flatMap((issue) => flatten(issue));
  }
  return { sections: {}, leftOut };
}

/** Takes out the key at a path; for what is missing, or stands in a list, the key that holds it. */
function remove(plain: unknown, path: Path): Path {
  if (path.length === 0) return path;
  const holder = path.slice(0, -1);
  const key = path.at(-1);
  const map = holder.reduce<unknown>((data, step) => (isData(data) ? data[step] : undefined), plain);
  if (typeof key !== 'string' || !isData(map) || !Object.hasOwn(map, key)) return remove(plain, holder);
  Reflect.deleteProperty(map, key);
  return path;
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null;
}

/** @returns whether the second path lies at or below the first */
export function isPrefix(first: Path, second: Path): boolean {
  return first.length <= second.length && first.every((step, index) => step === second[index]);
}
