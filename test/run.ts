/**
 * `npm test`: types, lint, and every test; `npm test -- FILE|WORD…` runs only the tests so named.
 * Tests that need a part this machine lacks are left out and told at the end. With `--install`, and always when
 * `CI=true`, missing parts are installed (Debian, as root); under `CI=true` a test that is left out fails the run.
 * At the end, everything that the tests' proxies left behind is searched for every secret that tests planted.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { findChromium } from './kit/chromium.ts';
import { searchTrace } from './kit/planted.ts';
import { findPostgres } from './kit/postgres-server.ts';
import { findProgram } from './kit/database-server.ts';
import { findRedis } from './kit/redis-server.ts';

/** What tests need beside npm's packages, and the Debian package that brings it. */
const machineParts = [
  { debian: 'chromium', find: findChromium },
  { debian: 'redis-server', find: findRedis },
  { debian: 'postgresql', find: findPostgres, prepare: withoutCluster },
  { debian: 'pgbouncer', find: () => findProgram('pgbouncer', ['/usr/sbin']) },
  { debian: 'openssl', find: () => findProgram('openssl') },
];

const checks = [
  { name: 'types', program: 'typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'lint', program: 'eslint/bin/eslint.js', args: ['.'] },
];

/** What takes longer hangs: it is ended and fails. */
const limits = { testMs: 300_000, runMs: 1_200_000 };

const root = join(import.meta.dirname, '..');
const isComplete = process.env['CI'] === 'true';
const { values, positionals } = parseArgs({ options: { install: { type: 'boolean' } }, allowPositionals: true });

process.chdir(root);
if (values.install === true || isComplete) installMissingParts();
const files = chooseFiles(positionals);
const troubles = positionals.length === 0 ? await runChecks() : [];
const trace = mkdtempSync(join(tmpdir(), 'elicitgate-trace-'));
const { totals, skipped: leftOut } = await runTests(files);
const search = searchTrace(trace);
if (totals.failed > 0 || totals.tests === 0) troubles.push('tests');
if (isComplete && leftOut.length > 0) troubles.push('tests were left out');
if (search.hits.length > 0) troubles.push('a planted secret was left behind');
else rmSync(trace, { recursive: true });
if (positionals.length === 0 && search.files * search.secrets === 0) troubles.push('nothing was searched for secrets');
report();
process.exitCode = troubles.length === 0 ? 0 : 1;

function installMissingParts(): void {
  for (const { debian, find, prepare } of machineParts) {
    if (find() !== undefined) continue;
    if (process.getuid?.() !== 0) {
      console.log(`Not installed: ${debian}. Only root may install it: apt-get install ${debian}`);
      continue;
    }
    console.log(`Installing ${debian} for the tests …`);
    prepare?.();
    // Nothing that is installed starts by itself, and a setting that was made before stays.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confold', debian]]) {
      const { status, stdout, stderr, error } = spawnSync('apt-get', ['-q', ...args], { env, encoding: 'utf8' });
      if (status === 0) continue;
      console.log(`apt-get ${args.join(' ')} failed: ${error?.message ?? stdout + stderr}`);
      break;
    }
  }
}

/** Debian makes and starts a database of its own at the installation, unless it is told not to. */
function withoutCluster(): void {
  const settings = '/etc/postgresql-common/createcluster.conf';
  if (existsSync(settings)) return;
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, 'create_main_cluster = false\n');
}

/** An argument is a file, a glob, or a word in the file's path. */
function chooseFiles(wanted: readonly string[]): readonly string[] {
  const all = globSync('test/**/*.test.ts').sort();
  if (wanted.length === 0) return all;
  const isWanted = (file: string) =>
    wanted.some((one) => file.includes(relative(root, join(root, one))) || matchesGlob(file, one));
  const chosen = all.filter(isWanted);
  if (chosen.length === 0) console.log(`No test file matches ${wanted.join(' ')}.`);
  return chosen;
}

/** Runs the checks side by side; prints what a failing one says; resolves to the names of those that failed. */
async function runChecks(): Promise<string[]> {
  const outcomes = await Promise.all(
    checks.map(async ({ name, program, args }) => ({ name, ...(await runNode(program, args)) })),
  );
  for (const { name, code, output } of outcomes) {
    console.log(code === 0 ? `✔ ${name}` : `✖ ${name}\n${output.trimEnd()}\n`);
  }
  return outcomes.filter(({ code }) => code !== 0).map(({ name }) => name);
}

function runNode(program: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join('node_modules', program), ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      resolve({ code, output });
    });
  });
}

async function runTests(chosen: readonly string[]) {
  const totals = { tests: 0, passed: 0, failed: 0, skipped: 0 };
  const skipped: { name: string; file: string; reason: string }[] = [];
  if (chosen.length === 0) return { totals, skipped };

  const events = run({
    files: [...chosen],
    concurrency: Math.max(2, availableParallelism() - 1),
    timeout: limits.testMs,
    signal: AbortSignal.timeout(limits.runMs),
    // A failed test may leave a server open; its file ends all the same.
    execArgv: ['--test-force-exit'],
    env: { ...process.env, ELICITGATE_TRACE: trace },
  });
  events.on('test:summary', ({ file, counts }) => {
    if (file !== undefined) return;
    const failed = counts.tests - counts.passed - counts.skipped - counts.todo;
    Object.assign(totals, { tests: counts.tests, passed: counts.passed, failed, skipped: counts.skipped });
  });
  events.on('test:pass', ({ name, file, skip }) => {
    if (skip === undefined || skip === false) return;
    skipped.push({ name, file: relative(root, file ?? ''), reason: typeof skip === 'string' ? skip : 'no reason given' });
  });
  await pipeline(events, withoutTotals, new spec(), process.stdout, { end: false });
  return { totals, skipped };
}

/** Takes out Node's own totals: ours are printed last, below the failures. */
async function* withoutTotals(events: AsyncIterable<{ type: string; data: { file?: string } }>) {
  for await (const event of events) {
    if (event.type !== 'test:diagnostic' || event.data.file !== undefined) yield event;
  }
}

function report(): void {
  const { tests, passed, failed, skipped } = totals;
  console.log(`\n# tests ${tests}\n# pass ${passed}\n# fail ${failed}\n# skipped ${skipped}`);
  const { files, bytes, secrets, hits } = search;
  console.log(`# searched ${files} files (${(bytes / 1024 ** 2).toFixed(1)} MiB of logs, audit trails, databases) for ${secrets} planted secrets: ${hits.length} found`);
  for (const hit of hits) console.log(`  ${hit}`);
  for (const [reason, tests] of Map.groupBy(leftOut, ({ reason }) => reason)) {
    console.log(`\nLeft out (${tests.length}): ${reason}`);
    for (const { file, name } of tests) console.log(`  ${file}: ${name}`);
  }
  if (troubles.length > 0) console.log(`\nFailed: ${troubles.join(', ')}`);
}
