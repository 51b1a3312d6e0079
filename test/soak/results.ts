/** What the soaks found, as a table for the terminal and as docs/soak.md. */
import type { Figure, Report, Soak } from './soak.ts';

export interface Outcome {
  readonly soak: Soak;
  readonly count: number;
  readonly seconds: number;
  readonly report?: Report;
  /** What was wrong. */
  readonly problem?: string;
  /** Nothing was wrong, and no figure is over its bar. */
  readonly isMet: boolean;
}

export interface Circumstances {
  readonly machine: string;
  /** The machine's load average before. */
  readonly loadBefore: number;
  readonly date: Date;
}

/** Above it, other programs took part in what was measured. */
const quietLoad = 2;

export function renderTable(outcomes: readonly Outcome[]): string {
  return outcomes
    .flatMap(({ soak, count, seconds, report, problem, isMet }) => [
      `${isMet ? '✔' : '✖'} ${soak.row} ${soak.name}: ${number(count)} in ${seconds.toFixed(0)} s${problem === undefined ? '' : `: ${problem}`}`,
      ...(report?.figures ?? []).map((figure) => `    ${figure.what.padEnd(44)} ${measured(figure).padStart(12)}  ${bar(figure)}${isOver(figure) ? '  OVER' : ''}`),
      ...(report?.leftOut ?? []).map((reason) => `    left out: ${reason}`),
    ])
    .join('\n');
}

export function renderPage(outcomes: readonly Outcome[], { machine, loadBefore, date }: Circumstances): string {
  const minutes = outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const busy = loadBefore < quietLoad ? '' : ' The machine was busy with other programs meanwhile, which every figure in time shows.';
  return `# Load and faults

The last results of \`npm run soak\`, which runs the real process with faults and loads in full; \`npm test\` runs the same in small. A row stands only when all that must be right was right: every answer, every record and every handle is checked on the way. The figures say how fast and how large that was on one machine.

${date.toISOString().slice(0, 10)}, ${machine}; clients and upstream on the same machine, load average before: ${loadBefore.toFixed(1)}.${busy} ${minutes.toFixed(0)} minutes in all.

| row | what | count | | measured | bar |
|---|---|---|---|---|---|
${outcomes.map(rowOf).join('\n')}
${leftOut(outcomes)}`;
}

function rowOf({ soak, count, report, problem, isMet }: Outcome): string {
  const figures = report?.figures ?? [];
  const column = (cells: readonly string[]): string => cells.join('<br>');
  const found = problem === undefined ? column(figures.map((figure) => `${figure.what}: ${measured(figure)}`)) : `**failed**: ${problem.replaceAll('|', '\\|')}`;
  return `| ${soak.row} | ${soak.what} | ${number(count)} | ${isMet ? '✔' : '✖'} | ${found} | ${column(figures.map(bar))} |`;
}

function leftOut(outcomes: readonly Outcome[]): string {
  const all = outcomes.flatMap(({ soak, report }) => (report?.leftOut ?? []).map((reason) => `- ${soak.row}: ${reason}`));
  return all.length === 0 ? '' : `\nLeft out on this machine:\n\n${all.join('\n')}\n`;
}

function isOver({ measured: value, bar: limit }: Figure): boolean {
  return limit !== undefined && value > limit;
}

function measured({ measured: value, unit }: Figure): string {
  return `${number(value)}${unit === '' ? '' : ` ${unit}`}`;
}

function bar({ bar: limit, unit }: Figure): string {
  return limit === undefined ? '' : limit === 0 ? 'none' : `at most ${number(limit)}${unit === '' ? '' : ` ${unit}`}`;
}

function number(value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 1;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
