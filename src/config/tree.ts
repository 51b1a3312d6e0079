/**
 * A YAML file as a tree in which every key and value knows its place. Anchors, aliases and merge keys
 * (`<<`) are resolved here; a key given twice, a tag, an alias without its anchor and an alias that
 * grows without bound are problems. Messages never quote the file's text.
 * YAML 1.2.2 core schema, with the merge key of YAML 1.1.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { formatPath, type Path, type Place, type Problem } from './problem.ts';

export type Tree = MapTree | ListTree | ScalarTree;

export interface MapTree {
  readonly kind: 'map';
  readonly at: Place;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  readonly keyAt: Place;
  readonly value: Tree;
}

interface ListTree {
  readonly kind: 'list';
  readonly at: Place;
  readonly items: readonly Tree[];
}

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly at: Place;
  readonly value: string | number | boolean | null;
  /** The value came from the environment or from a file: it is never printed. */
  readonly isFromOutside?: true;
}

/** More values than this in one file can only come from aliases that multiply. */
const largestTree = 100_000;

const yamlWords: Readonly<Record<string, readonly [found: string, right: string]>> = {
  BAD_INDENT: ['an indentation that does not fit', 'keys of one map begin in the same column'],
  TAB_AS_INDENT: ['a tab as indentation', 'spaces'],
  MISSING_CHAR: ['a quote, bracket, colon or comma is missing', 'the missing character'],
  MULTIPLE_DOCS: ['a second YAML document', 'one document in a file'],
  TAG_RESOLVE_FAILED: ['a YAML tag', 'plain YAML without tags'],
  BAD_SCALAR_START: ['a plain value that begins with a reserved character', 'the value in quotes'],
  BAD_DQ_ESCAPE: ['an unknown escape between double quotes', 'a known escape, or single quotes'],
};

/**
 * @param text the file's content
 * @param file its name for messages
 * @returns the tree, or every problem of its YAML
 */
export function readTree(text: string, file: string): { readonly tree?: Tree; readonly problems: readonly Problem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: true });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [...document.errors, ...document.warnings].map((error): Problem => {
    const [found, right] = yamlWords[error.code] ?? ['text that is not YAML', 'valid YAML; quotes around the value often help'];
    return { ...place(error.pos[0]), path: '', found, right };
  });
  if (document.errors.length > 0) return { problems };
  const builder = new Builder(place);
  const tree = builder.build(document.contents, [], place(0));
  const all = [...problems, ...builder.problems];
  return all.length > 0 ? { problems: all } : { tree, problems: [] };
}

/** Holds what one walk through a document collects. */
class Builder {
  readonly problems: Problem[] = [];
  readonly #place: (offset: number) => Place;
  readonly #anchors = new Map<string, Tree>();
  readonly #sizes = new WeakMap<Tree, number>();
  #isTooLarge = false;

  constructor(place: (offset: number) => Place) {
    this.#place = place;
  }

  build(node: unknown, path: Path, fallback: Place): Tree {
    if (isAlias(node)) return this.#alias(node.source, path, this.#at(node, fallback));
    const at = this.#at(node, fallback);
    const tree = this.#collectionOrScalar(node, path, at);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, tree);
    return tree;
  }

  #collectionOrScalar(node: unknown, path: Path, at: Place): Tree {
    if (isMap(node)) {
      const entries = this.#entries(node, path, at);
      return this.#sized({ kind: 'map', at, entries }, [...entries.values()].map((entry) => entry.value));
    }
    if (isSeq(node)) {
      const items = node.items.map((item, index) => this.build(item, [...path, index], at));
      return this.#sized({ kind: 'list', at, items }, items);
    }
    const value = isScalar(node) ? node.value : null;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return this.#sized({ kind: 'scalar', at, value }, []);
    }
    return this.#sized({ kind: 'scalar', at, value: null }, []);
  }

  #entries(node: YAMLMap, path: Path, at: Place): Map<string, Entry> {
    const own = new Map<string, Entry>();
    const merged = new Map<string, Entry>();
    for (const pair of node.items) {
      const keyAt = this.#at(pair.key, at);
      if (isMergeKey(pair)) {
        for (const [key, entry] of this.#mergeSource(pair, path, keyAt)) if (!merged.has(key)) merged.set(key, entry);
        continue;
      }
      const key = keyText(pair.key);
      if (key === undefined) {
        this.#report(keyAt, path, 'a key that is not a plain text', 'a name');
        continue;
      }
      const first = own.get(key);
      if (first !== undefined) this.#report(keyAt, [...path, key], 'a key given twice', `once: it stands in line ${first.keyAt.line} too`);
      own.set(key, { keyAt, value: this.build(pair.value, [...path, key], keyAt) });
    }
    for (const [key, entry] of merged) if (!own.has(key)) own.set(key, entry);
    return own;
  }

  #mergeSource(pair: Pair, path: Path, at: Place): [string, Entry][] {
    const source = this.build(pair.value, [...path, '<<'], at);
    const maps = source.kind === 'list' ? source.items : [source];
    if (maps.some((map) => map.kind !== 'map')) this.#report(at, [...path, '<<'], 'something else than a map', 'an alias of a map, or a list of them');
    return maps.flatMap((map) => (map.kind === 'map' ? [...map.entries] : []));
  }

  #alias(anchor: string, path: Path, at: Place): Tree {
    const tree = this.#anchors.get(anchor);
    if (tree !== undefined) return tree;
    this.#report(at, path, 'an alias without its anchor', 'an anchor (&name) that stands before, not around, the alias (*name)');
    return { kind: 'scalar', at, value: null };
  }

  #sized(tree: Tree, children: readonly Tree[]): Tree {
    const size = children.reduce((sum, child) => sum + (this.#sizes.get(child) ?? 1), 1);
    this.#sizes.set(tree, size);
    if (size > largestTree && !this.#isTooLarge) {
      this.#isTooLarge = true;
      this.#report(tree.at, [], `more than ${largestTree} values`, 'fewer aliases inside aliases');
    }
    return tree;
  }

  #at(node: unknown, fallback: Place): Place {
    if (!isMap(node) && !isSeq(node) && !isScalar(node) && !isAlias(node)) return fallback;
    return node.range === undefined || node.range === null ? fallback : this.#place(node.range[0]);
  }

  #report(at: Place, path: Path, found: string, right: string): void {
    this.problems.push({ ...at, path: formatPath(path), found, right });
  }
}

function isMergeKey(pair: Pair): boolean {
  if (!isScalar(pair.key) || pair.key.type !== 'PLAIN') return false;
  const value: unknown = pair.key.value;
  return value === '<<' || (typeof value === 'symbol' && value.description === '<<');
}

function keyText(key: unknown): string | undefined {
  if (!isScalar(key) || key.value === null || key.value === '__proto__') return undefined;
  return typeof key.value === 'string' ? key.value : key.source;
}

/** @returns the tree with each scalar replaced; the function gets the scalar's path */
export function mapScalars(tree: Tree, replace: (scalar: ScalarTree, path: Path) => ScalarTree, path: Path = []): Tree {
  if (tree.kind === 'scalar') return replace(tree, path);
  if (tree.kind === 'list') {
    return { ...tree, items: tree.items.map((item, index) => mapScalars(item, replace, [...path, index])) };
  }
  const entries = [...tree.entries].map(([key, { keyAt, value }]): [string, Entry] => [
    key,
    { keyAt, value: mapScalars(value, replace, [...path, key]) },
  ]);
  return { ...tree, entries: new Map(entries) };
}

/** @returns the tree as plain data, made anew */
export function toPlain(tree: Tree): unknown {
  if (tree.kind === 'scalar') return tree.value;
  if (tree.kind === 'list') return tree.items.map(toPlain);
  return Object.fromEntries([...tree.entries].map(([key, entry]) => [key, toPlain(entry.value)]));
}

/** @returns the value at a path, if the file has it */
export function treeAt(tree: Tree, path: Path): Tree | undefined {
  return path.reduce<Tree | undefined>((at, step) => child(at, step), tree);
}

/** @returns where a path stands: its value, or its key when `isKey`; the nearest key around it when it is missing */
export function placeOf(tree: Tree, path: Path, isKey = false): Place {
  let at = tree;
  let place = tree.at;
  for (const [index, step] of path.entries()) {
    const next = child(at, step);
    if (next === undefined) break;
    const isLast = index === path.length - 1;
    const keyAt = at.kind === 'map' && typeof step === 'string' ? at.entries.get(step)?.keyAt : undefined;
    place = isLast && !isKey && next.kind === 'scalar' ? next.at : (keyAt ?? next.at);
    at = next;
  }
  return place;
}

function child(tree: Tree | undefined, step: string | number): Tree | undefined {
  if (tree?.kind === 'map') return tree.entries.get(String(step))?.value;
  if (tree?.kind === 'list') return typeof step === 'number' ? tree.items[step] : undefined;
  return undefined;
}
