/**
 * `npm run soak`: every fault and load in full, on this machine; `npm run soak -- NAME…` runs only those.
 * A complete run writes docs/soak.md. It fails when something is wrong or a figure is over its bar.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { renderPage, renderTable, type Outcome } from './results.ts';
import type { Soak } from './soak.ts';
import { soaks } from './soaks.ts';

/** What takes longer hangs. */
const longestMs = 15 * 60_000;

const { values, positionals } = parseArgs({ options: { small: { type: 'boolean' } }, allowPositionals: true });
const chosen = positionals.length === 0 ? soaks : soaks.filter(({ name, row }) => positionals.includes(name) || positionals.includes(row));
const isComplete = chosen.length === soaks.length && values.small !== true;
const loadBefore = loadavg()[0] ?? 0;
const outcomes: Outcome[] = [];
for (const soak of chosen) {
  console.log(`${soak.row} ${soak.name} …`);
  const outcome = await runSoak(soak, values.small === true ? soak.small : soak.full);
  console.log(renderTable([outcome]));
  outcomes.push(outcome);
}
if (chosen.length === 0) console.log(`There are: ${soaks.map(({ name }) => name).join(', ')}.`);
if (isComplete) writeFileSync(join(import.meta.dirname, '../../docs/soak.md'), renderPage(outcomes, { machine: machine(), loadBefore, date: new Date() }));
process.exitCode = chosen.length > 0 && outcomes.every(({ isMet }) => isMet) ? 0 : 1;
// A soak that failed may have left something open.
process.exit();

async function runSoak(soak: Soak, count: number): Promise<Outcome> {
  const since = performance.now();
  try {
    const report = await Promise.race([soak.run(count), tooLong()]);
    const isMet = report.figures.every(({ measured, bar }) => bar === undefined || measured <= bar);
    return { soak, count, seconds: (performance.now() - since) / 1_000, report, isMet };
  } catch (error) {
    console.log(error);
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { soak, count, seconds: (performance.now() - since) / 1_000, problem, isMet: false };
  }
}

async function tooLong(): Promise<never> {
  await delay(longestMs, undefined, { ref: false });
  throw new Error(`it was not over after ${longestMs / 60_000} minutes`);
}

function machine(): string {
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${gibibytes} GiB, ${type()} ${release().split('-')[0] ?? ''}, Node ${process.version}${virtual()}`;
}

function virtual(): string {
  const { stdout, status } = spawnSync('systemd-detect-virt', { encoding: 'utf8' });
  return status === 0 ? ` (${stdout.trim()})` : '';
}
