/**
 * Paths that the file names: relative ones count from the file in which they stand, and what they name
 * must exist. The store's file may be new, and of an audit file only the folder must be there: both
 * are written by the process itself.
 */
import { statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { readCatalogue } from './catalogue.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { mapScalars, type ScalarTree, type Tree } from './tree.ts';

interface Named {
  readonly where: string;
  /** What stands before the path in the value. */
  readonly prefix?: string;
  readonly must: 'be a file' | 'be a folder' | 'lie in a folder' | 'be writable later';
}

const named: readonly Named[] = [
  { where: 'credentials.*.clientAuth.key', must: 'be a file' },
  { where: 'upstreams.*.catalogue', must: 'be a file' },
  { where: 'upstreams.*.tls.ca', must: 'be a file' },
  { where: 'upstreams.*.tls.cert', must: 'be a file' },
  { where: 'upstreams.*.tls.key', must: 'be a file' },
  { where: 'upstreams.*.cwd', must: 'be a folder' },
  { where: 'outbound.ca', must: 'be a file' },
  { where: 'pages.logo', must: 'be a file' },
  { where: 'vault.store', prefix: 'sqlite:', must: 'be writable later' },
  { where: 'audit.to.*', prefix: 'file:', must: 'lie in a folder' },
];

/** The media types of images that the pages can show, by the file's extension. */
export const logoTypes = { '.svg': 'image/svg+xml', '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg' } as const;

export function logoType(path: string): (typeof logoTypes)[keyof typeof logoTypes] | undefined {
  const extension = extname(path).toLowerCase();
  return Object.entries(logoTypes).find(([known]) => known === extension)?.[1];
}

/** @returns the tree with absolute paths, and a problem for each that names nothing */
export function resolveFiles(tree: Tree): { readonly tree: Tree; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const replace = (scalar: ScalarTree, path: Path): ScalarTree => {
    const rule = named.find(({ where }) => isAt(path, where));
    const prefix = rule?.prefix ?? '';
    if (rule === undefined || typeof scalar.value !== 'string' || !scalar.value.startsWith(prefix)) return scalar;
    const written = scalar.value.slice(prefix.length);
    if (written === '') return scalar;
    const absolute = resolve(dirname(scalar.at.file), written);
    const right = whatIsWrong(rule, absolute);
    const found = scalar.isFromOutside === true ? '[set]' : JSON.stringify(written);
    if (right !== undefined) problems.push({ ...scalar.at, path: formatPath(path), found, right });
    return { ...scalar, value: prefix + absolute };
  };
  return { tree: mapScalars(tree, replace), problems };
}

function isAt(path: Path, where: string): boolean {
  const steps = where.split('.');
  return steps.length === path.length && steps.every((step, index) => step === '*' || step === path[index]);
}

function whatIsWrong(rule: Named, absolute: string): string | undefined {
  switch (rule.must) {
    case 'be a file':
      if (!kindOf(absolute)?.isFile()) return 'a file that exists; relative paths count from this file’s folder';
      if (rule.where === 'upstreams.*.catalogue') return catalogueProblem(absolute);
      if (rule.where === 'pages.logo' && logoType(absolute) === undefined) return 'an image: .svg, .png or .jpg';
      return undefined;
    case 'be a folder':
      return kindOf(absolute)?.isDirectory() ? undefined : 'a folder that exists; relative paths count from this file’s folder';
    case 'lie in a folder':
      return kindOf(dirname(absolute))?.isDirectory() ? undefined : 'a file in a folder that exists';
    case 'be writable later':
      return undefined;
  }
}

function catalogueProblem(absolute: string): string | undefined {
  const catalogue = readCatalogue(absolute);
  return catalogue.ok ? undefined : catalogue.error;
}

function kindOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
