/**
 * `npm run bench`: what Elicitgate costs, beside the upstream alone and other proxies, in one run on this
 * machine. `--quick` takes less than a minute and is rougher; `--json` prints everything that was measured.
 *
 * Contenders take turns in short slices, and ratios are taken inside a round, so that a machine that is
 * slower for a while is slower for all. Load generator, proxy and upstream share the machine's cores:
 * calls per second say less than CPU per call, which is the proxy's process alone.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { freePort } from '../src/operate/child-server.ts';
import { startContenders, type Contender } from './contenders.ts';
import type { Order, Slice } from './load.ts';
import { ask, beside, cpuMs, startListener, startTalker, type Process } from './processes.ts';
import { judge, render, summarise, type Measurement } from './report.ts';
import { measureStdio } from './stdio.ts';
import { measureStreams } from './streams.ts';

interface Load {
  readonly name: string;
  readonly connections: number;
  readonly bytes: number;
}

const loads: readonly Load[] = [
  { name: 'small call, 1 connection', connections: 1, bytes: 16 },
  { name: 'small call, 16 connections', connections: 16, bytes: 16 },
  { name: 'small call, 64 connections', connections: 64, bytes: 16 },
  { name: '1 MiB answer, 4 connections', connections: 4, bytes: 1024 * 1024 },
];
const judgedLoad = 'small call, 64 connections';

const thorough = { rounds: 5, sliceMs: 1500, warmUpMs: 1500, streams: 2000, stdioCalls: 2000 };
const quick = { rounds: 3, sliceMs: 500, warmUpMs: 1000, streams: 500, stdioCalls: 500 };

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const effort = options.quick ? quick : thorough;

const upstreamPort = await freePort();
const upstream = await startListener(process.execPath, [beside('upstream.ts'), String(upstreamPort)], upstreamPort);
const generator = startTalker(beside('load.ts'));
try {
  const measurements = await measureLoads();
  progress(`${effort.streams} idle streams`);
  const streams = await measureStreams(upstreamPort, effort.streams);
  progress('a program behind the proxy');
  const stdio = await measureStdio(effort.stdioCalls);
  const rows = summarise(measurements);
  const aims = judge(rows, judgedLoad, streams, stdio);
  const machine = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model ?? 'unknown' };
  if (options.json) {
    console.log(JSON.stringify({ machine, effort, rows, streams, stdio, aims, measurements }, undefined, 2));
  } else {
    console.log(`Node ${machine.node}, ${machine.cores} × ${machine.cpu}, ${effort.rounds} rounds`);
    console.log(render(rows, streams, stdio, aims));
  }
} finally {
  await generator.close();
  await upstream.close();
}

async function measureLoads(): Promise<readonly Measurement[]> {
  const contenders = await startContenders(upstreamPort);
  const measurements: Measurement[] = [];
  try {
    const warmUp = { name: 'warm-up', connections: 16, bytes: 16 };
    for (const contender of contenders) await slice(contender, warmUp, 0, effort.warmUpMs);
    for (let round = 1; round <= effort.rounds; round += 1) {
      progress(`round ${round} of ${effort.rounds}`);
      // Every other round runs backwards, so that a drift of the machine favours nobody.
      const order = round % 2 === 1 ? contenders : contenders.toReversed();
      for (const load of loads) {
        for (const contender of order) measurements.push(await slice(contender, load, round, effort.sliceMs));
      }
    }
  } finally {
    for (const contender of contenders) await contender.close();
  }
  return inOrderOf(contenders, measurements);
}

async function slice(contender: Contender, load: Load, round: number, ms: number): Promise<Measurement> {
  const { port, session: headers, tool, pid } = contender;
  await order(generator, {
    do: 'open',
    target: { port, path: '/mcp', headers, tool, bytes: load.bytes },
    connections: load.connections,
  });
  const before = await cpuOf(pid);
  const { calls, seconds, p50Ms, p99Ms } = await order<Slice>(generator, { do: 'run', ms });
  const cpu = (await cpuOf(pid)) - before;
  await order(generator, { do: 'shut' });
  return {
    load: load.name,
    contender: contender.name,
    round,
    perSecond: calls / seconds,
    p50Ms,
    p99Ms,
    cpuPerCallUs: pid === undefined ? undefined : (cpu * 1000) / calls,
  };
}

function order<T>(to: Process, what: Order): Promise<T> {
  return ask<T>(to, what);
}

async function cpuOf(pid: number | undefined): Promise<number> {
  return pid === undefined ? 0 : cpuMs(pid);
}

function inOrderOf(contenders: readonly Contender[], measurements: readonly Measurement[]): readonly Measurement[] {
  const place = new Map(contenders.map(({ name }, index) => [name, index]));
  return measurements.toSorted((a, b) => (place.get(a.contender) ?? 0) - (place.get(b.contender) ?? 0));
}

function progress(text: string): void {
  process.stderr.write(`${text} …\n`);
}
