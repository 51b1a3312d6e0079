/**
 * The package as a stranger gets it: packed from a clean copy, installed into an empty folder, run from there.
 * The copy keeps a developer's own dist/ untouched and shows that nothing but tracked sources is needed.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';

const root = join(import.meta.dirname, '..');
const notSource = ['node_modules', '.git', 'dist', 'data', 'coverage', 'screenshots', '.bench'];
const quick = { encoding: 'utf8', timeout: 30_000 } as const;
const example = 'node_modules/elicitgate/config/minimal.yaml';

describe('the package', () => {
  let folder: string;
  let shipped: readonly string[];
  const installed = (...path: readonly string[]) => join(folder, 'installed', ...path);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'elicitgate-package-'));
    const packed = await pack(join(folder, 'copy'), folder);
    shipped = packed.files;
    await install(packed.tarball, installed());
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('holds the program, the schema, the examples and the documents about it, and nothing else', () => {
    const sources = globSync('**/*.ts', { cwd: join(folder, 'copy/src') });
    const compiled = sources.flatMap((path) => ['.js', '.d.ts'].map((end) => `dist/${path.replace(/\.ts$/, end)}`));
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/elicitgate.js',
      'config/demo.yaml',
      'config/elicitgate.schema.json',
      'config/example.yaml',
      'config/example/company-ca.pem',
      'config/example/logo.svg',
      'config/minimal.yaml',
      'package.json',
      ...compiled,
    ];
    const missing = expected.filter((path) => !shipped.includes(path));
    const uncalledFor = shipped.filter((path) => !expected.includes(path));
    assert.deepEqual({ missing, uncalledFor }, { missing: [], uncalledFor: [] });
  });

  test('checks a file without the network', () => {
    const env = { ELICITGATE_KEY: Buffer.alloc(32, 7).toString('base64') };
    const { status, stderr } = elicitgate(installed(), ['check', '--offline', '-c', example], env);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });

  test('names what a file lacks, and exits with 2', () => {
    const { status, stderr } = elicitgate(installed(), ['check', '--offline', '-c', example], {});
    assert.match(stderr, /^\S+\/minimal\.yaml:\d+:\d+ vault\.keys\[0\]: the environment variable ELICITGATE_KEY is not set; /);
    assert.equal(status, 2);
  });

  test('explains its demo', () => {
    const { status, stdout, stderr } = elicitgate(installed(), ['demo', '--help'], {});
    assert.match(stdout, /^Usage: elicitgate demo /);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });

  test('says in one sentence that an older Node will not do', () => {
    const { path, version, args } = olderNode();
    const bin = installed('node_modules/elicitgate/bin/elicitgate.js');
    const { status, stdout, stderr } = spawnSync(path, [...args, bin, 'demo'], quick);
    const said = `Elicitgate needs Node 24 or newer; this is ${version}. Install it from https://nodejs.org.\n`;
    assert.deepEqual({ status, stdout, stderr }, { status: 1, stdout: '', stderr: said });
  });
});

async function pack(copy: string, destination: string) {
  const isSource = (path: string) => !notSource.includes(relative(root, path));
  await cp(root, copy, { recursive: true, filter: isSource });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const stdout = npm(copy, ['pack', '--json', '--silent', '--pack-destination', destination]);
  // Scripts that run while packing may print before the report.
  const [report] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  return { tarball: join(destination, report.filename), files: report.files.map(({ path }) => path) };
}

async function install(tarball: string, into: string): Promise<void> {
  await mkdir(into);
  await writeFile(join(into, 'package.json'), '{ "private": true }\n');
  npm(into, ['install', '--prefer-offline', '--no-audit', '--no-fund', '--silent', tarball]);
}

function npm(cwd: string, args: readonly string[]): string {
  const options = { cwd, env: environment(), encoding: 'utf8', timeout: 300_000 } as const;
  const { status, stdout, stderr } = spawnSync('npm', [...args], options);
  assert.equal(status, 0, `npm ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

function elicitgate(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const program = join(cwd, 'node_modules/.bin/elicitgate');
  return spawnSync(program, [...args], { cwd, env: { ...environment(), ...env }, ...quick });
}

/** This environment with this Node first, and without what a developer may have set for Elicitgate. */
function environment() {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ELICITGATE_'));
  return { ...Object.fromEntries(kept), PATH: [dirname(process.execPath), ...path()].join(delimiter) };
}

/** The system's Node when it is older than 24, else this one made to look so. */
function olderNode(): { readonly path: string; readonly version: string; readonly args: readonly string[] } {
  for (const folder of path().filter((one) => basename(one) !== '.bin')) {
    const node = join(folder, 'node');
    const { stdout, error } = spawnSync(node, ['--version'], quick);
    const version = error === undefined ? stdout.trim() : '';
    if (/^v(1[4-9]|2[0-3])\./.test(version)) return { path: node, version, args: [] };
  }
  const pretend = `for (const [name, value] of [['version', 'v20.1.0'], ['versions', { node: '20.1.0' }]])
    Object.defineProperty(process, name, { value });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  return { path: process.execPath, version: 'v20.1.0', args };
}

function path(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
}
