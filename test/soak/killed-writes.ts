/** B1: the process is killed while people give and replace keys. What a page called stored is there afterwards, whole, and nothing stands in plain. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { generateKey } from '../../src/operate/key-file.ts';
import { spellingsFound } from '../kit/canary.ts';
import { mcpServer, text } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { startRecorder } from '../kit/recorder.ts';
import { callPaid, giveKey, namedPeople, replaceKey } from './person.ts';
import { serve, temporaryFolder, type Served } from './served.ts';
import { closingAll, times, type Closing, type Report, type Soak } from './soak.ts';

/** The start of a process takes longest, so several installations are killed side by side. */
const lanes = 2;
const newcomersAtOnce = 3;
const latestKillMs = 120;
const replacer = 'replacer';

/** Every key begins like this, so one search finds them all. */
const prefix = planted(`sk-${randomBytes(12).toString('hex')}`);

interface Ledger {
  /** Keys by person, as the page acknowledged them. */
  readonly acknowledged: Map<string, string>;
  /** Keys that were sent and never acknowledged; they may be stored or not. */
  readonly open: Map<string, string>;
  readonly recent: Set<string>;
  readonly found: Set<string>;
  written: number;
}

interface Installation {
  readonly folder: string;
  readonly key: string;
  readonly upstream: string;
  /** Keys that arrived upstream, by person. */
  readonly arrived: Map<string, string | undefined>;
  readonly ledger: Ledger;
}

export const killedWrites: Soak = {
  name: 'killed-writes',
  row: 'B1',
  what: 'SIGKILL of `serve` during credential writes: no acknowledged write lost, integrity check clean, nothing in plain',
  full: 500,
  small: 2,
  run: (count) => closingAll(async (t) => {
    const ledgers: Ledger[] = [];
    const side = count > lanes ? lanes : 1;
    await times(side, side, async (lane) => {
      const installation = await install(t);
      ledgers.push(installation.ledger);
      for (let round = lane; round < count; round += side) await writeAndKill(installation);
      await verifyAll(installation);
    });
    const sum = (of: (ledger: Ledger) => number): number => ledgers.reduce((all, ledger) => all + of(ledger), 0);
    const figures: Report['figures'] = [
      { what: 'acknowledged writes', measured: sum(({ written }) => written), unit: '' },
      { what: 'people whose key was found again', measured: sum(({ found }) => found.size), unit: '' },
    ];
    return { figures };
  }),
};

async function install(t: Closing): Promise<Installation> {
  const arrived = new Map<string, string | undefined>();
  const paid = (call: { readonly params?: { readonly arguments?: unknown } }, header: string | undefined): unknown => {
    arrived.set((call.params?.arguments as { readonly person: string }).person, header);
    return text('paid');
  };
  const upstream = await startRecorder(mcpServer({ sessions: false, tools: { paid: (call, request) => paid(call, request.header('x-key')) } }));
  t.after(() => upstream.close());
  return { folder: temporaryFolder(t), key: generateKey(), upstream: upstream.url, arrived, ledger: { acknowledged: new Map(), open: new Map(), recent: new Set(), found: new Set(), written: 0 } };
}

const start = ({ folder, key, upstream }: Installation) => (t: Closing): Promise<Served> => serve(t, { folder, key, upstream, file: namedPeople });

/** One life of the process: what was acknowledged before is still there, then people write until it is killed. */
async function writeAndKill(installation: Installation): Promise<void> {
  await closingAll(async (t) => {
    const served = await start(installation)(t);
    const { ledger } = installation;
    for (const person of [replacer, ...ledger.recent]) await verify(installation, served, person);
    ledger.recent.clear();
    if (!ledger.acknowledged.has(replacer)) await write(ledger, replacer, (token) => giveKey(served, replacer, token));
    let isKilled = false;
    const begun = Promise.withResolvers<void>();
    const keepWriting = async (next: () => Promise<void>): Promise<void> => {
      try {
        while (!isKilled) await next().then(begun.resolve);
      } catch (error) {
        if (!isKilled) throw error;
      }
    };
    const newcomer = (): Promise<void> => {
      const person = `person-${randomBytes(6).toString('hex')}`;
      return write(ledger, person, (token) => giveKey(served, person, token));
    };
    const writing = [...Array.from({ length: newcomersAtOnce }, () => keepWriting(newcomer)), keepWriting(() => write(ledger, replacer, (token) => replaceKey(served, replacer, token)))];
    await Promise.race([begun.promise, Promise.all(writing)]);
    await delay(Math.random() * latestKillMs);
    isKilled = true;
    await served.kill();
    await Promise.all(writing);
    inspectFiles(installation);
  });
}

async function write(ledger: Ledger, person: string, give: (token: string) => Promise<void>): Promise<void> {
  const token = `${prefix}-${randomBytes(4).toString('hex')}`;
  ledger.open.set(person, token);
  await give(token);
  ledger.open.delete(person);
  ledger.acknowledged.set(person, token);
  ledger.recent.add(person);
  ledger.written += 1;
}

/** The key that arrives upstream is the one that was acknowledged, or the one that was under way when the process was killed. */
async function verify({ arrived, ledger }: Installation, served: Served, person: string): Promise<void> {
  const stored = ledger.acknowledged.get(person);
  if (stored === undefined) return;
  arrived.delete(person);
  const answer = await callPaid(served, person);
  const found = arrived.get(person);
  assert.ok(found === stored || (found !== undefined && found === ledger.open.get(person)), `${person}’s acknowledged key is lost: ${answer.text}`);
  ledger.acknowledged.set(person, found);
  ledger.found.add(person);
  ledger.open.delete(person);
}

async function verifyAll(installation: Installation): Promise<void> {
  await closingAll(async (t) => {
    const served = await start(installation)(t);
    const people = [...installation.ledger.acknowledged.keys()];
    await times(people.length, 8, (index) => verify(installation, served, people[index] ?? ''));
    assert.equal(installation.ledger.found.size, people.length);
  });
}

/** A copy is checked, so that recovery is left to the next start. */
function inspectFiles({ folder }: Installation): void {
  const copy = join(folder, 'copy');
  mkdirSync(copy);
  for (const name of ['elicitgate.db', 'elicitgate.db-wal']) {
    if (!existsSync(join(folder, name))) continue;
    copyFileSync(join(folder, name), join(copy, name));
    assert.deepEqual(spellingsFound(prefix, readFileSync(join(copy, name))), [], name);
  }
  const database = new DatabaseSync(join(copy, 'elicitgate.db'));
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  database.close();
  assert.deepEqual(spellingsFound(prefix, readFileSync(join(folder, 'output.log'))), [], 'log');
  rmSync(copy, { recursive: true });
}
