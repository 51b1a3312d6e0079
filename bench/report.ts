/**
 * Turns what was measured into what a person reads: medians, ratios taken inside rounds, and the aims.
 */
import { names } from './contenders.ts';
import type { StdioCost } from './stdio.ts';
import type { StreamCost } from './streams.ts';

/** One slice of one contender under one load. */
export interface Measurement {
  readonly load: string;
  readonly contender: string;
  readonly round: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the proxy's process per call; undefined for the upstream itself. */
  readonly cpuPerCallUs: number | undefined;
}

export interface Row {
  readonly load: string;
  readonly contender: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuPerCallUs: number | undefined;
  /** Requests per second as a share of nginx's and of the pipe's, in the same round. */
  readonly ofNginx: number | undefined;
  readonly ofPipe: number | undefined;
  /** Processor time per call as a multiple of the Fastify proxy's, in the same round. */
  readonly cpuOfFastify: number | undefined;
}

export interface Aim {
  readonly what: string;
  readonly found: number;
  readonly isMet: boolean;
}

/** One row for each load and contender, in the order of measuring. */
export function summarise(measurements: readonly Measurement[]): readonly Row[] {
  const groups = Map.groupBy(measurements, ({ load, contender }) => `${load}\n${contender}`);
  return [...groups.values()].map((group) => rowOf(group, measurements));
}

function rowOf(group: readonly Measurement[], all: readonly Measurement[]): Row {
  const [first] = group;
  if (first === undefined) throw new Error('an empty group');
  const ratio = (to: string, value: (one: Measurement) => number | undefined) =>
    medianIfAny(
      group.map((one) => {
        const other = all.find((it) => it.contender === to && it.load === one.load && it.round === one.round);
        const mine = value(one);
        const theirs = other && value(other);
        return mine === undefined || theirs === undefined ? undefined : mine / theirs;
      }),
    );
  return {
    load: first.load,
    contender: first.contender,
    perSecond: median(group.map((one) => one.perSecond)),
    p50Ms: median(group.map((one) => one.p50Ms)),
    p99Ms: median(group.map((one) => one.p99Ms)),
    cpuPerCallUs: medianIfAny(group.map((one) => one.cpuPerCallUs)),
    ofNginx: ratio(names.nginx, (one) => one.perSecond),
    ofPipe: ratio(names.nodePipe, (one) => one.perSecond),
    cpuOfFastify: ratio(names.fastifyPipe, (one) => one.cpuPerCallUs),
  };
}

/**
 * Compares with the aims.
 * @param load the load that the aims speak of
 */
export function judge(rows: readonly Row[], load: string, streams: StreamCost, stdio: StdioCost): readonly Aim[] {
  const injecting = rows.find((row) => row.load === load && row.contender === names.injecting);
  const kilobytes = streams.rssPerStream / 1024;
  const aims: (Aim | undefined)[] = [
    aim(`injecting, ${load}: at least 1.00 of the node:http pipe`, injecting?.ofPipe, (it) => it >= 1),
    aim(`injecting, ${load}: at least 0.30 of nginx`, injecting?.ofNginx, (it) => it >= 0.3),
    aim(`injecting, ${load}: at most 1.15 of Fastify + dispatch's CPU per call`, injecting?.cpuOfFastify, (it) => it <= 1.15),
    aim('an idle stream: at most 45 KB', kilobytes, (it) => it <= 45),
    aim('an idle program: at most 200 KB of ours', stdio.bytesPerProcess / 1024, (it) => it <= 200),
    aim('folders and descriptors that ended programs leave: none', stdio.homesLeft + stdio.descriptorsLeft, (it) => it <= 0),
  ];
  return aims.filter((it) => it !== undefined);
}

function aim(what: string, found: number | undefined, isMet: (found: number) => boolean): Aim | undefined {
  return found === undefined ? undefined : { what, found, isMet: isMet(found) };
}

/** The report as text, for a terminal 100 columns wide. */
export function render(rows: readonly Row[], streams: StreamCost, stdio: StdioCost, aims: readonly Aim[]): string {
  const lines: string[] = [];
  for (const [load, group] of Map.groupBy(rows, (row) => row.load)) {
    lines.push('', load, line('', 'calls/s', 'of nginx', 'of pipe', 'p50 ms', 'p99 ms', 'CPU µs/call', 'of Fastify'));
    for (const row of group) {
      lines.push(
        line(
          row.contender,
          row.perSecond.toFixed(0),
          number(row.ofNginx, 2),
          number(row.ofPipe, 2),
          row.p50Ms.toFixed(2),
          row.p99Ms.toFixed(2),
          number(row.cpuPerCallUs, 0),
          number(row.cpuOfFastify, 2),
        ),
      );
    }
  }
  const kilobytes = (bytes: number) => (bytes / 1024).toFixed(1);
  lines.push(
    '',
    `${streams.streams} idle streams through Elicitgate, each with its upstream half`,
    `  ${kilobytes(streams.rssPerStream)} KB resident, ${kilobytes(streams.heapPerStream)} KB of it heap, per stream;` +
      ` ${kilobytes(streams.heapLeftPerStream)} KB of heap left when closed`,
    '',
    'A program behind Elicitgate (stdio)',
    `  one call ${stdio.directMs.toFixed(2)} ms directly, ${stdio.throughMs.toFixed(2)} ms through the proxy, with HTTP and injection;` +
      ` ${kilobytes(stdio.bytesPerProcess)} KB for each of ${stdio.processes} idle processes`,
    '',
    'Aims',
    ...aims.map(({ what, found, isMet }) => `  ${isMet ? 'met   ' : 'missed'}  ${what}: ${found.toFixed(2)}`),
  );
  return lines.join('\n');
}

function line(name: string, ...cells: readonly string[]): string {
  return `  ${name.padEnd(22)}${cells.map((cell) => cell.padStart(12)).join('')}`.trimEnd();
}

function number(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? NaN)) / 2;
}

function medianIfAny(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}
