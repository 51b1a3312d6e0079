/**
 * The process in which `stdio.ts` measures: Elicitgate in front of the tests' program, time per call against
 * talking to the program directly, our memory per idle process, and whether fifty of them leave anything
 * behind. Told how many calls to make, it answers once.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { Agent } from 'node:http';
import { send, toolCall, type McpClient } from '../test/kit/mcp-client.ts';
import { headersOf, programPath, startStdioGateway, textOf } from '../test/kit/stdio-gateway.ts';
import type { StdioCost } from './stdio.ts';

const people = 50;
const cleanups: (() => unknown)[] = [];
const scope = { after: (cleanup: () => unknown) => { cleanups.push(cleanup); } };

async function direct(calls: number): Promise<number> {
  const child = spawn(process.execPath, [programPath], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const call = async (): Promise<void> => {
    child.stdin.write(`${JSON.stringify(toolCall('echo', { text: 'x' }))}\n`);
    await lines.next();
  };
  for (let at = 0; at < 200; at += 1) await call();
  const since = performance.now();
  for (let at = 0; at < calls; at += 1) await call();
  const each = (performance.now() - since) / calls;
  child.kill();
  return each;
}

async function proxied(url: string, client: McpClient, person: string, calls: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '', 'MCP-Protocol-Version': '2025-11-25', ...headersOf(person) };
  const call = () => send(url, { headers, agent, body: JSON.stringify(toolCall('echo', { text: 'x' })) });
  for (let at = 0; at < 200; at += 1) await call();
  const since = performance.now();
  for (let at = 0; at < calls; at += 1) await call();
  agent.destroy();
  return (performance.now() - since) / calls;
}

function used(): number {
  global.gc?.();
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const count = () => ({ homes: readdirSync(tmpdir()).filter((name) => /^elicitgate-[A-Za-z0-9]{6}$/.test(name)).length, descriptors: readdirSync('/proc/self/fd').length });

const [{ calls }] = (await once(process, 'message')) as [{ readonly calls: number }];
const gateway = await startStdioGateway(scope, { with: `maxProcesses: ${people + 2}` });
const first = await gateway.as('person-0');
await gateway.give('person-0', first, 'pid', 'sk-bench-key-000000');
const [directMs, throughMs] = [await direct(calls), await proxied(gateway.url, first, 'person-0', calls)];

const clients = await Promise.all(Array.from({ length: people }, async (_, at) => ({ person: `person-${at + 1}`, client: await gateway.as(`person-${at + 1}`) })));
for (const { person, client } of clients) await gateway.give(person, client, 'pid', `sk-bench-${person}`);
const atRest = used();
const before = count();
const pids = new Set<string>();
for (const { client } of clients) pids.add(textOf(await client.call('pid')));
await new Promise((next) => { setTimeout(next, 200); });
const bytesPerProcess = (used() - atRest) / people;
for (const { client } of clients) await client.bare('DELETE');
const late = Date.now() + 10_000;
while (count().homes > before.homes && Date.now() < late) await new Promise((next) => { setTimeout(next, 50); });
const after = count();
for (const cleanup of cleanups) await cleanup();
const cost: StdioCost = { directMs, throughMs, processes: pids.size, bytesPerProcess, homesLeft: after.homes - before.homes, descriptorsLeft: after.descriptors - before.descriptors };
process.send?.(cost);
