/**
 * The shape of the source, kept by a test: who may import whom, no cycles, one name for each thing, small files.
 * A row that has to change for new code is a decision about the design; change it in its own commit, with the reason.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { describe, test } from 'node:test';
import { type Module, parseModule, readModules } from './kit/modules.ts';

/** The parts of src/; a file belongs to the first row that names it, and may import the parts listed and its own. */
const parts = [
  { part: 'errors', files: ['src/errors.ts'], mayImport: [] },
  { part: 'protocol', files: ['src/protocol/**'], mayImport: ['errors'] },
  { part: 'config', files: ['src/config/**'], mayImport: ['errors', 'protocol'] },
  { part: 'ports', files: ['src/stores/store.ts', 'src/upstreams/upstream.ts'], mayImport: ['errors', 'protocol', 'config'] },
  { part: 'stores', files: ['src/stores/**'], mayImport: ['errors', 'protocol', 'config', 'ports'] },
  { part: 'upstreams', files: ['src/upstreams/**'], mayImport: ['errors', 'protocol', 'config', 'ports'] },
  // What a person runs is an edge like main.ts: it may put an app together, and only main.ts knows it.
  {
    part: 'commands',
    files: ['src/operate/{serve,greeting,check,explain,init,wrap,keygen,rekey,users,schema,demo}.ts'],
    mayImport: ['errors', 'protocol', 'config', 'ports', 'stations', 'app'],
  },
  {
    part: 'stations',
    files: ['src/{gateway,identity,elicitation,pages,collect,vault,operate}/**'],
    mayImport: ['errors', 'protocol', 'config', 'ports'],
  },
  {
    part: 'app',
    files: ['src/app.ts', 'src/plugin.ts'],
    mayImport: ['errors', 'protocol', 'config', 'ports', 'stores', 'upstreams', 'stations'],
  },
  { part: 'main', files: ['src/main.ts'], mayImport: ['errors', 'config', 'commands', 'app', 'stations'] },
] as const;

/** What one place alone may import, and what a place may not; a package is meant with its subpaths. */
const packageRules = [
  {
    packages: ['node:fs', 'node:fs/promises', 'node:net', 'node:http', 'node:https', 'undici', 'fastify'],
    never: ['src/protocol/**'],
    because: 'the protocol is words; it does no I/O',
  },
  { packages: ['node:sqlite'], only: ['src/stores/sqlite*.ts'], because: 'the store port hides which database it is' },
  { packages: ['undici'], only: ['src/upstreams/**'], because: 'what goes out goes through the one guarded client' },
  { packages: ['eta'], only: ['src/pages/**'], because: 'HTML is made in one place, which escapes' },
  { packages: ['commander'], only: ['src/main.ts'], because: 'the command line is read at the edge' },
  {
    packages: ['@modelcontextprotocol/sdk'],
    only: ['src/operate/demo*.ts'],
    because: 'its schemas drop fields that they do not know, and loading it slows every start',
  },
] as const;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const drawers = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'types', 'misc', 'lib'];
const budgets = { fileLines: 350, functionLines: 80, medianLines: 150 };

const root = join(import.meta.dirname, '..');
const source = readModules(root, ['src/**/*.ts']);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const everything = [...source, ...readModules(root, ['{test,bench,config}/**/*.ts'])];

describe('the shape of the source', () => {
  test('every file belongs to a part, and imports only what its part may', () => {
    assert.deepEqual(source.flatMap(importBreaches), []);
  });
  test('packages that belong to one place are imported there alone', () => {
    assert.deepEqual(source.flatMap(packageBreaches), []);
  });
  test('every package that is imported is named in package.json, and src needs none that is for development', () => {
    assert.deepEqual(everything.flatMap((module) => unnamedPackages(module, manifest)), []);
  });
  test('no imports go in a circle', () => {
    assert.deepEqual(cyclesIn(everything), []);
  });
  test('only src/main.ts touches the process', () => {
    const breaches = source.filter(({ path }) => path !== 'src/main.ts').flatMap(processBreaches);
    assert.deepEqual(breaches, []);
  });
  test('files are named in kebab-case after what they do, without barrels or drawers', () => {
    assert.deepEqual(everything.flatMap(nameBreaches), []);
  });
  test('files and functions stay small', (t) => {
    assert.deepEqual(everything.flatMap(sizeBreaches), []);
    const sizes = source.map(({ lines }) => lines).sort((a, b) => a - b);
    const median = sizes[sizes.length >> 1] ?? 0;
    if (median > budgets.medianLines) {
      t.diagnostic(`half of the files in src are longer than ${median} lines; about 110 is meant`);
    }
  });
});

describe('the rules themselves', () => {
  const breachesOf = (path: string, text: string) => {
    const module = parseModule(path, text);
    return [importBreaches, packageBreaches, nameBreaches, sizeBreaches].flatMap((rule) => rule(module));
  };

  test('a station that imports an adapter is named, even for a type', () => {
    assert.deepEqual(breachesOf('src/vault/vault.ts', `import type { Sqlite } from '../stores/sqlite.ts';`), [
      'src/vault/vault.ts (stations) imports src/stores/sqlite.ts (stores)',
    ]);
  });
  test('an adapter that imports a station is named, also when it does so late', () => {
    assert.deepEqual(breachesOf('src/stores/redis.ts', `const { open } = await import('../vault/vault.ts');`), [
      'src/stores/redis.ts (stores) imports src/vault/vault.ts (stations)',
    ]);
  });
  test('the protocol may import nothing of ours but the errors, and no I/O', () => {
    const text = `import { ok } from '../errors.ts';\nexport { load } from '../config/load.ts';\nimport 'node:fs';`;
    assert.deepEqual(breachesOf('src/protocol/session-token.ts', text), [
      'src/protocol/session-token.ts (protocol) imports src/config/load.ts (config)',
      'src/protocol/session-token.ts imports node:fs, but the protocol is words; it does no I/O',
    ]);
  });
  test('a package for development has no place in src', () => {
    const manifest = { dependencies: { eta: '1' }, devDependencies: { '@types/eta': '1', typescript: '1' } };
    const text = `import 'eta/core';\nimport 'node:test';\nimport 'typescript';\nimport '@types/eta/x.js';`;
    const of = (path: string) => unnamedPackages(parseModule(path, text), manifest);
    assert.deepEqual(of('src/pages/views.ts'), [
      'src/pages/views.ts imports typescript',
      'src/pages/views.ts imports @types/eta',
    ]);
    assert.deepEqual(of('test/pages/views.test.ts'), []);
  });
  test('a command may use the app, and a station may use neither', () => {
    assert.deepEqual(breachesOf('src/operate/demo.ts', `import { createApp } from '../app.ts';`), []);
    assert.deepEqual(
      breachesOf('src/operate/health.ts', `import { createApp } from '../app.ts';\nimport { demo } from './demo.ts';`),
      [
        'src/operate/health.ts (stations) imports src/app.ts (app)',
        'src/operate/health.ts (stations) imports src/operate/demo.ts (commands)',
      ],
    );
  });
  test('a file outside every part, in a drawer, or with a name of another style is named', () => {
    assert.deepEqual(breachesOf('src/utils/stringHelpers.ts', ''), [
      'src/utils/stringHelpers.ts belongs to no part',
      'src/utils/stringHelpers.ts lies in a drawer: utils',
      'src/utils/stringHelpers.ts is not in kebab-case',
    ]);
  });
  test('a circle is told as the way around it', () => {
    const modules = [
      parseModule('src/vault/a.ts', `import './b.ts';`),
      parseModule('src/vault/b.ts', `import './c.ts';`),
      parseModule('src/vault/c.ts', `import type { A } from './a.ts';`),
    ];
    assert.deepEqual(cyclesIn(modules), ['src/vault/a.ts → src/vault/b.ts → src/vault/c.ts → src/vault/a.ts']);
  });
  test('the process is found by name and by import, and not in a word that only sounds like it', () => {
    const text = [
      `import { env } from 'node:process';`,
      `const port = process.env.PORT;`,
      `globalThis.process.exit(1);`,
      `const task = { process: 1 }; task.process; interface Task { process: number }`,
    ].join('\n');
    assert.deepEqual(parseModule('src/vault/a.ts', text).processAt, [1, 2, 3]);
  });
  test('a long file and a long function are named with their lengths', () => {
    const text = `export function seal() {\n${'  step();\n'.repeat(79)}}\n${'// more\n'.repeat(270)}`;
    assert.deepEqual(breachesOf('src/vault/seal.ts', text), [
      'src/vault/seal.ts has 351 lines; at most 350',
      'src/vault/seal.ts:1 seal has 81 lines; at most 80',
    ]);
  });
  test('a suite may hold many tests, and no test may be long', () => {
    const body = '  step();\n'.repeat(50);
    const tests = `test('a', () => {\n${body}});\ntest('b', () => {\n${body}${body}});\n`;
    assert.deepEqual(breachesOf('src/vault/suite.ts', `function suite() {\n${tests}}`), [
      'src/vault/suite.ts:54 a function without name has 102 lines; at most 80',
    ]);
  });
});

function partOf(path: string) {
  return parts.find(({ files }) => files.some((glob) => matchesGlob(path, glob)));
}

function importBreaches({ path, imports }: Module): readonly string[] {
  const own = partOf(path);
  if (own === undefined) return [`${path} belongs to no part`];
  const allowed: readonly string[] = [own.part, ...own.mayImport];
  return imports
    .map((target) => ({ target, part: partOf(target)?.part ?? 'no part' }))
    .filter(({ part }) => !allowed.includes(part))
    .map(({ target, part }) => `${path} (${own.part}) imports ${target} (${part})`);
}

function packageBreaches({ path, packages }: Module): readonly string[] {
  const isIn = (globs: readonly string[]) => globs.some((glob) => matchesGlob(path, glob));
  return packageRules
    .filter((rule) => ('only' in rule ? !isIn(rule.only) : isIn(rule.never)))
    .flatMap((rule) =>
      packages
        .filter((name) => rule.packages.some((one) => name === one || name.startsWith(`${one}/`)))
        .map((name) => `${path} imports ${name}, but ${rule.because}`),
    );
}

function unnamedPackages({ path, packages }: Module, { dependencies, devDependencies }: Manifest): readonly string[] {
  const named = path.startsWith('src/') ? dependencies : { ...dependencies, ...devDependencies };
  return packages
    .filter((name) => !isBuiltin(name))
    .map((name) => name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => !(name in named))
    .map((name) => `${path} imports ${name}`);
}

function processBreaches({ path, processAt }: Module): readonly string[] {
  return processAt.map((line) => `${path}:${line} names the process`);
}

function nameBreaches({ path }: Module): readonly string[] {
  const drawer = dirname(path).split('/').find((folder) => drawers.includes(folder));
  const name = basename(path).replace(/(\.test)?\.ts$/, '');
  return [
    ...(drawer === undefined ? [] : [`${path} lies in a drawer: ${drawer}`]),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*$/i.test(name) && (name === name.toLowerCase() || dirname(path).endsWith('/words'))
      ? []
      : [`${path} is not in kebab-case`]),
    ...(name === 'index' ? [`${path} is a barrel; import from the file itself`] : []),
  ];
}

function sizeBreaches({ path, lines, functions }: Module): readonly string[] {
  return [
    ...(lines > budgets.fileLines ? [`${path} has ${lines} lines; at most ${budgets.fileLines}`] : []),
    ...functions
      .filter((one) => one.lines > budgets.functionLines)
      .map((one) => `${path}:${one.line} ${one.name} has ${one.lines} lines; at most ${budgets.functionLines}`),
  ];
}

/** Every circle once, told from its first file in the alphabet. */
function cyclesIn(modules: readonly Module[]): readonly string[] {
  const importsOf = new Map(modules.map(({ path, imports }) => [path, imports]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' → '));
    if (start !== -1 || finished.has(path)) return;
    for (const next of importsOf.get(path) ?? []) walk(next, [...trail, path]);
    finished.add(path);
  };
  for (const { path } of modules) walk(path, []);
  return cycles;
}
