/**
 * Reads the configuration: files and folders, YAML with places, merging, `${…}`, the paths that it
 * names, the schema, and what its keys mean together. Either a whole configuration comes back or every
 * problem of every file; nothing is half loaded and nothing is guessed.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { err, ok, type Result } from '../errors.ts';
import type { Config } from './config.ts';
import { resolveFiles } from './files.ts';
import { finish } from './finish.ts';
import { interpolate } from './interpolate.ts';
import { checkMeaning } from './meaning.ts';
import { formatPath, type Finding, type Path, type Problem } from './problem.ts';
import { checkSections, isPrefix } from './sections.ts';
import { placeOf, readTree, treeAt, type Entry, type MapTree, type Tree } from './tree.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The file that is read when none is named. */
export const defaultFile = './elicitgate.yaml';

/**
 * @param paths files and folders; of a folder every .yaml and .yml file; none means `defaultFile`
 * @param env the environment, for `${NAME}`
 * @returns the configuration, or all problems in the order of the files
 */
export function loadConfig(paths: readonly string[], env: Env): Result<Config, readonly Problem[]> {
  const { files, trees, problems } = readAll(paths.length === 0 ? [defaultFile] : paths);
  const first = trees[0];
  if (first === undefined) return err(problems);
  const merged = mergeAll(trees);
  const interpolated = interpolate(merged.tree, env);
  const resolved = resolveFiles(interpolated.tree);
  const early = [...problems, ...merged.problems, ...interpolated.problems, ...resolved.problems];
  const { file, findings } = check(resolved.tree, problems.length === 0);
  const reported = new Set(early.map((problem) => problem.path));
  const late = findings.map((finding) => locate(finding, resolved.tree)).filter((problem) => !reported.has(problem.path));
  const all = [...early, ...late];
  if (file === undefined || all.length > 0) return err(inOrder(all, files));
  return ok(finish(file, resolve(dirname(first.at.file))));
}

function check(tree: Tree, isComplete: boolean) {
  const { file, sections, leftOut, findings } = checkSections(tree);
  // What seems to be missing may stand in a file that could not be read.
  if (!isComplete) return { file: undefined, findings: findings.filter(({ found }) => found !== 'missing') };
  const credentials = treeAt(tree, ['credentials']);
  const credentialNames = credentials?.kind === 'map' ? [...credentials.entries.keys()].filter((name) => !name.startsWith('x-')) : [];
  const isFromOutside = (path: Path) => {
    const value = treeAt(tree, path);
    return value?.kind === 'scalar' && value.isFromOutside === true;
  };
  const isUncertain = (path: Path) => leftOut.some((gone) => isPrefix(gone, path) || isPrefix(path, gone));
  return { file, findings: [...findings, ...checkMeaning({ sections, credentialNames, isFromOutside, isUncertain })] };
}

function locate(finding: Finding, tree: Tree): Problem {
  const isKey = finding.found === 'an unknown key' || finding.found.startsWith('a name that');
  return { ...placeOf(tree, finding.path, isKey), path: formatPath(finding.path), found: finding.found, right: finding.right };
}

function inOrder(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  return problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

interface Read {
  /** All that were tried, in order. */
  readonly files: readonly string[];
  readonly trees: readonly MapTree[];
  readonly problems: readonly Problem[];
}

function readAll(paths: readonly string[]): Read {
  const trees: MapTree[] = [];
  const problems: Problem[] = [];
  const files = paths.flatMap((path) => {
    const expanded = expand(path);
    if (expanded.ok) return expanded.value;
    problems.push(expanded.error);
    return [path];
  });
  const unreadable = new Set(problems.map((problem) => problem.file));
  for (const file of files.filter((name) => !unreadable.has(name))) {
    const text = readText(file);
    if (!text.ok) {
      problems.push(text.error);
      continue;
    }
    const read = readTree(text.value, file);
    problems.push(...read.problems);
    if (read.tree?.kind === 'map') trees.push(read.tree);
    else if (read.tree !== undefined) problems.push(wholeFile(file, 'no map of keys', 'a map that begins with version: 1'));
  }
  return { files, trees, problems };
}

function expand(path: string): Result<readonly string[], Problem> {
  try {
    if (!statSync(path).isDirectory()) return ok([path]);
    const files = readdirSync(path).filter((name) => /\.ya?ml$/.test(name)).sort();
    return files.length > 0 ? ok(files.map((name) => join(path, name))) : err(wholeFile(path, 'a folder without .yaml files', 'a file, or a folder with .yaml files'));
  } catch (error) {
    return err(wholeFile(path, `it cannot be read (${codeOf(error)})`, 'a configuration file; name it with -c'));
  }
}

function readText(file: string): Result<string, Problem> {
  try {
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)));
  } catch (error) {
    return err(wholeFile(file, `it cannot be read (${codeOf(error)})`, 'a readable file in UTF-8'));
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function wholeFile(file: string, found: string, right: string): Problem {
  return { file, line: 1, column: 1, path: '', found, right };
}

/** Maps are merged at every depth; anything else may be given only once. */
function mergeAll(trees: readonly MapTree[]): { readonly tree: Tree; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const merge = (first: MapTree, second: MapTree, path: Path): MapTree => {
    const entries = new Map<string, Entry>(first.entries);
    for (const [key, entry] of second.entries) {
      const known = entries.get(key);
      const at = [...path, key];
      if (known === undefined) entries.set(key, entry);
      else if (known.value.kind === 'map' && entry.value.kind === 'map') {
        entries.set(key, { keyAt: known.keyAt, value: merge(known.value, entry.value, at) });
      } else {
        const { file, line } = known.keyAt;
        problems.push({ ...entry.keyAt, path: formatPath(at), found: 'a key given twice', right: `once: it stands in ${file}, line ${line}, too` });
      }
    }
    return { ...first, entries };
  };
  const [first, ...others] = trees;
  if (first === undefined) throw new Error('nothing to merge');
  return { tree: others.reduce((tree, other) => merge(tree, other, []), first), problems };
}
