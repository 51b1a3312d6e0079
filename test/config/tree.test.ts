import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, readTree, toPlain, treeAt, type Tree } from '../../src/config/tree.ts';

function treeOf(text: string): Tree {
  const { tree, problems } = readTree(text, 'f.yaml');
  assert.ok(tree !== undefined, JSON.stringify(problems));
  return tree;
}

function problemsIn(text: string): readonly string[] {
  return readTree(text, 'f.yaml').problems.map(({ line, column, path, found, right }) => `${line}:${column} ${path}: ${found}; ${right}`);
}

test('Values and keys know their line and column', () => {
  const tree = treeOf('a:\n  b: [1, "two"]\n  c:\n    d: x\n');
  assert.deepEqual(placeOf(tree, ['a', 'b', 1]), { file: 'f.yaml', line: 2, column: 10 });
  assert.deepEqual(placeOf(tree, ['a', 'c', 'd']), { file: 'f.yaml', line: 4, column: 8 });
  assert.deepEqual(placeOf(tree, ['a', 'c', 'd'], true), { file: 'f.yaml', line: 4, column: 5 });
});

test('What is missing is placed at the nearest key around it', () => {
  const tree = treeOf('a:\n  b:\n    c: 1\n');
  assert.deepEqual(placeOf(tree, ['a', 'b', 'missing', 'deeper']), { file: 'f.yaml', line: 2, column: 3 });
});

test('Anchors, aliases and merge keys are resolved, and a key of its own wins over a merged one', () => {
  const tree = treeOf('x-base: &base { a: 1, b: 2 }\nx-more: &more { b: 3, c: 4 }\none: { <<: *base, b: own }\ntwo: { <<: [*base, *more] }\nthree: *base\n');
  assert.deepEqual(toPlain(tree), {
    'x-base': { a: 1, b: 2 },
    'x-more': { b: 3, c: 4 },
    one: { b: 'own', a: 1 },
    two: { a: 1, b: 2, c: 4 },
    three: { a: 1, b: 2 },
  });
});

test('A quoted << is an ordinary key', () => {
  assert.deepEqual(toPlain(treeOf('"<<": 1')), { '<<': 1 });
});

test('Keys that look like numbers or yes and no keep their spelling', () => {
  assert.deepEqual(toPlain(treeOf('1.0: a\ntrue: b\nyes: c\n')), { '1.0': 'a', true: 'b', yes: 'c' });
});

test('A key given twice is named with both its lines', () => {
  assert.deepEqual(problemsIn('a:\n  b: 1\n  c: 2\n  b: 3\n'), ['4:3 a.b: a key given twice; once: it stands in line 2 too']);
});

test('Merging something that is no map, and an alias without anchor or inside its own anchor are problems', () => {
  assert.deepEqual(problemsIn('a: &a 1\nb: { <<: *a }\n'), ['2:6 b.<<: something else than a map; an alias of a map, or a list of them']);
  assert.deepEqual(problemsIn('a: *b\n'), ['1:4 a: an alias without its anchor; an anchor (&name) that stands before, not around, the alias (*name)']);
  assert.equal(problemsIn('a: &a [*a]\n').length, 1);
});

test('Aliases that multiply are refused before they fill the memory', () => {
  const lines = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`).join(', ')}]`);
  assert.deepEqual(problemsIn(['l0: &l0 x', ...lines].join('\n')), ['6:9 : more than 100000 values; fewer aliases inside aliases']);
});

test('Tags, several documents, tabs and broken YAML are problems with a place, and quote nothing', () => {
  assert.deepEqual(problemsIn('a: !secret canary\n'), ['1:4 : a YAML tag; plain YAML without tags']);
  assert.deepEqual(problemsIn('a: 1\n---\nb: canary\n'), ['2:1 : a second YAML document; one document in a file']);
  assert.deepEqual(problemsIn('a:\n\tb: canary\n')[0], '2:1 : a tab as indentation; spaces');
  for (const text of ['a: [canary, "b', 'a: "canary\\q"', 'a: @canary', 'canary: {a: 1', 'a: b: canary', '? [canary]\n: 1']) {
    const problems = problemsIn(text);
    assert.ok(problems.length > 0, text);
    assert.ok(!problems.join().includes('canary'), problems.join());
  }
});

test('A key that could change objects themselves is refused', () => {
  assert.deepEqual(problemsIn('a: { __proto__: { x: 1 } }\n'), ['1:6 a: a key that is not a plain text; a name']);
});

test('An alias leads to the value of its anchor', () => {
  assert.equal(treeAt(treeOf('a: &x { b: 1 }\nc: *x\n'), ['c', 'b'])?.kind, 'scalar');
});
