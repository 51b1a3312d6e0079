/**
 * `${NAME}` (an environment variable), `${NAME:-default}` (when it is not set or empty), `${file:PATH}`
 * (a file's content without its trailing newline); `$${` is a literal `${`. Taken in string values
 * only, after the YAML is read, once: what is put in is never read again. A value stays a text, so a
 * number cannot come from outside.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { err, ok, type Result } from '../errors.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { mapScalars, type ScalarTree, type Tree } from './tree.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Wrong = Pick<Problem, 'found' | 'right'>;

interface Filled {
  readonly text: string;
  readonly isFromOutside: boolean;
}

const forms = '${NAME}, ${NAME:-default} or ${file:PATH}; $${ is a literal ${';

/**
 * @param tree the file with `${…}` in its texts
 * @returns the tree with values in their place, and a problem for each that could not be had
 */
export function interpolate(tree: Tree, env: Env): { readonly tree: Tree; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const replace = (scalar: ScalarTree, path: Path): ScalarTree => {
    if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return scalar;
    const folder = dirname(scalar.at.file);
    const filled = fill(scalar.value, env, (file) => readFileSync(resolve(folder, file), 'utf8'));
    if (filled.ok) return { ...scalar, value: filled.value.text, ...(filled.value.isFromOutside && { isFromOutside: true }) };
    const isKey = path[0] === 'vault' && path[1] === 'keys';
    const remedy = (right: string) => (isKey ? `${right}; \`elicitgate keygen\` prints a key` : right);
    problems.push(...filled.error.map(({ found, right }) => ({ ...scalar.at, path: formatPath(path), found, right: remedy(right) })));
    return { ...scalar, isFromOutside: true };
  };
  return { tree: mapScalars(tree, replace), problems };
}

/**
 * @param readFile returns a file's content or throws
 * @returns the text with its values, or everything that is wrong in it
 */
export function fill(text: string, env: Env, readFile: (path: string) => string): Result<Filled, readonly Wrong[]> {
  const parts: string[] = [];
  const wrong: Wrong[] = [];
  let isFromOutside = false;
  let at = 0;
  for (let open = text.indexOf('${'); open >= 0; open = text.indexOf('${', at)) {
    if (open > at && text[open - 1] === '$') {
      parts.push(text.slice(at, open - 1), '${');
      at = open + 2;
      continue;
    }
    parts.push(text.slice(at, open));
    const close = text.indexOf('}', open);
    if (close < 0) {
      wrong.push({ found: 'a ${ without its }', right: forms });
      at = text.length;
      break;
    }
    const value = lookUp(text.slice(open + 2, close), env, readFile);
    if (value.ok) parts.push(value.value);
    else wrong.push(value.error);
    isFromOutside = true;
    at = close + 1;
  }
  parts.push(text.slice(at));
  return wrong.length > 0 ? err(wrong) : ok({ text: parts.join(''), isFromOutside });
}

function lookUp(expression: string, env: Env, readFile: (path: string) => string): Result<string, Wrong> {
  if (expression.includes('${')) return err({ found: 'a ${ inside another', right: forms });
  if (expression.startsWith('file:')) return content(expression.slice('file:'.length), readFile);
  const [, name, withDefault, fallback = ''] = /^([A-Za-z_][A-Za-z0-9_]*)(:-([^]*))?$/.exec(expression) ?? [];
  if (name === undefined) return err({ found: 'a ${…} that names no variable', right: forms });
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (withDefault !== undefined) return ok(value === undefined || value === '' ? fallback : value);
  if (value !== undefined) return ok(value);
  return err({
    found: `the environment variable ${name} is not set`,
    right: `set ${name}, or write \${${name}:-…} with a default`,
  });
}

function content(path: string, readFile: (path: string) => string): Result<string, Wrong> {
  try {
    return ok(readFile(path).replace(/\r?\n$/, ''));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return err({ found: `the file ${path} cannot be read (${code})`, right: 'a file that exists and that this process may read' });
  }
}
