/** B2 for one process: its store is moved away, locked, full and read-only, again and again. It fails closed, says so, and comes back by itself. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { key } from '../kit/gateway.ts';
import { connect, provide, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { serve, temporaryFolder, until, type Served } from './served.ts';
import { closingAll, took, type Closing, type Report, type Soak } from './soak.ts';

interface Fault {
  readonly name: string;
  /** Prepares the folder before the process starts. @returns why the fault cannot be made on this machine */
  readonly prepare?: (t: Closing, folder: string) => string | undefined;
  /** Makes the store fail. @returns undoes it */
  readonly strike: (folder: string) => () => void;
  /** What is stored can still be read, so a key that is there is still used. */
  readonly mayRead: boolean;
}

const diskMebibytes = 16;
const recoversWithinMs = 30_000;

/** One process suffers these in turn. */
const onAnyDisk: readonly Fault[] = [
  {
    name: 'moved away',
    mayRead: false,
    strike(folder) {
      const file = join(folder, 'elicitgate.db');
      renameSync(file, `${file}.away`);
      return () => { renameSync(`${file}.away`, file); };
    },
  },
  {
    name: 'locked by another program',
    mayRead: true,
    strike(folder) {
      const other = new DatabaseSync(join(folder, 'elicitgate.db'), { timeout: 2_000 });
      other.exec('BEGIN IMMEDIATE');
      return () => {
        other.exec('ROLLBACK');
        other.close();
      };
    },
  },
  {
    name: 'read-only file',
    mayRead: true,
    prepare(_t, folder) {
      const probe = join(folder, 'probe');
      writeFileSync(probe, '');
      return command('chattr', '+i', probe) ?? command('chattr', '-i', probe);
    },
    // An open file keeps its rights; only what is immutable cannot be written any more. The `-shm` file is left alone: it
    // is mapped, and whoever makes it immutable or shortens it ends the process with SIGBUS, as tried. What disks do by
    // themselves does not, as tried on ext4 and tmpfs (remounted with `abort`, shut down, full while `-shm` had to grow,
    // unmounted lazily, files removed): SQLite writes the `-wal` file first, and that write fails with an error.
    strike(folder) {
      const files = ['', '-wal'].map((end) => join(folder, `elicitgate.db${end}`));
      assert.equal(command('chattr', '+i', ...files), undefined);
      return () => { assert.equal(command('chattr', '-i', ...files), undefined); };
    },
  },
];

const onItsOwnDisk: readonly Fault[] = [
  {
    name: 'full disk',
    mayRead: true,
    prepare(t, folder) {
      const problem = command('mount', '-t', 'tmpfs', '-o', `size=${diskMebibytes}m`, 'tmpfs', folder);
      if (problem === undefined) t.after(() => command('umount', folder));
      return problem;
    },
    strike(folder) {
      const filler = join(folder, 'filler');
      assert.throws(() => { writeFileSync(filler, Buffer.alloc(diskMebibytes * 1024 * 1024)); }, { code: 'ENOSPC' });
      return () => { rmSync(filler); };
    },
  },
];

const file = `
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } }
  other: { kind: apiKey, title: Other, fields: [{ name: token, label: Key }], inject: { headers: { X-Other: "{token}" } } }
upstreams: { main: { url: "UPSTREAM", rules: [{ tools: [paid], requires: [key] }, { tools: [other], requires: [other] }] } }
`;

export const storeFaults: Soak = {
  name: 'store-faults',
  row: 'B2',
  what: 'the store moved away, locked, read-only, and on a full disk: fails closed, others pass, `/readyz` says so, recovers, no exit',
  full: 20,
  small: 1,
  run: (count) => closingAll(async (t) => {
    const leftOut: string[] = [];
    const slowest = { refusal: 0, recovery: 0 };
    for (const faults of [onAnyDisk, onItsOwnDisk]) {
      const folder = temporaryFolder(t);
      const reasons = faults.map((fault) => fault.prepare?.(t, folder));
      leftOut.push(...faults.flatMap(({ name }, at) => (reasons[at] === undefined ? [] : [`${name}: ${reasons[at]}`])));
      const possible = faults.filter((_fault, at) => reasons[at] === undefined);
      if (possible.length > 0) await suffer(t, possible, folder, count, slowest);
    }
    const figures: Report['figures'] = [
      { what: 'slowest refusal', measured: slowest.refusal, unit: 'ms', bar: 2_000 },
      { what: 'slowest recovery', measured: slowest.recovery / 1_000, unit: 's', bar: 5 },
    ];
    return { figures, leftOut };
  }),
};

async function suffer(t: Closing, faults: readonly Fault[], folder: string, count: number, slowest: { refusal: number; recovery: number }): Promise<void> {
  const upstream = await startRecorder(mcpServer());
  t.after(() => upstream.close());
  const served = await serve(t, { folder, upstream: upstream.url, file: file.replace('UPSTREAM', upstream.url) });
  const client = await connect(served.url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  for (const fault of Array.from({ length: count }, () => faults).flat()) {
    const mend = fault.strike(folder);
    try {
      const arrived = upstream.requests.length;
      // Nobody is asked when the question cannot be kept, and no key is used that cannot be read.
      slowest.refusal = Math.max(slowest.refusal, await refused(client, 'other'), fault.mayRead ? 0 : await refused(client, 'paid'));
      assert.equal(upstream.requests.length, arrived, fault.name);
      if (fault.mayRead) assert.equal(await said(client, 'paid'), 'paid', fault.name);
      assert.equal(await said(client, 'free'), 'free', fault.name);
      assert.equal(await readiness(served), 503, fault.name);
      assert.equal((await fetch(`${served.admin}/healthz`)).status, 200, fault.name);
    } finally {
      mend();
    }
    const recovery = await until(`ready again after: ${fault.name}`, async () => (await readiness(served)) === 200, recoversWithinMs);
    slowest.recovery = Math.max(slowest.recovery, recovery);
    assert.equal(await said(client, 'paid'), 'paid', fault.name);
    assert.ok((await client.call('other')).message.error?.data?.elicitations?.[0]?.url, fault.name);
    assert.ok(served.isRunning(), fault.name);
  }
}

/** @returns after how many milliseconds the call was refused */
function refused(client: McpClient, tool: string): Promise<number> {
  return took(async () => {
    const answer = await client.call(tool);
    assert.deepEqual([answer.status, answer.message.error?.code], [200, 1503], answer.text);
  });
}

async function said(client: McpClient, tool: string): Promise<string | undefined> {
  const { message, text } = await client.call(tool);
  return message.result?.content?.[0]?.text ?? text;
}

async function readiness({ admin }: Served): Promise<number> {
  return (await fetch(`${admin}/readyz`)).status;
}

/** Some faults need rights over the machine. @returns what went wrong */
function command(program: string, ...args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${program}: ${(error?.message ?? stderr).trim()}`;
}
