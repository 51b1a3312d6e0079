/**
 * Runs the official conformance suite against a server and gives back the status of every single check,
 * warnings and infos too, so that a run through the proxy can be compared with a direct one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** `scenario/check-id`, with ` #2`, ` #3` … when a scenario reports one id several times → status. */
export type Checks = ReadonlyMap<string, string>;

interface Check {
  readonly id: string;
  readonly status: string;
}

/**
 * Runs all scenarios of a revision.
 * @param url the MCP endpoint; with `localhost` in it, for the DNS rebinding checks
 * @throws Error with the suite's output when it reported nothing
 */
export async function runConformance(url: string, revision = '2025-11-25'): Promise<Checks> {
  const manifest = findPackageJSON('@modelcontextprotocol/conformance', import.meta.url);
  if (manifest === undefined) throw new Error('the conformance suite is not installed: run npm ci');
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const script = join(dirname(manifest), 'dist/index.js');
    const output = await run([script, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', folder]);
    const checks = await readChecks(folder);
    if (checks.size === 0) throw new Error(`the conformance suite reported nothing:\n${output}`);
    return checks;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Failed checks make the suite exit with 1, so that its exit code says nothing here. */
function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

async function readChecks(folder: string): Promise<Checks> {
  const checks = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    for (const { id, status } of JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[]) {
      checks.set(freeKey(checks, `${scenario}/${id}`), status);
    }
  }
  return checks;
}

function freeKey(checks: Checks, key: string): string {
  for (let occurrence = 1; ; occurrence += 1) {
    const candidate = occurrence === 1 ? key : `${key} #${occurrence}`;
    if (!checks.has(candidate)) return candidate;
  }
}
