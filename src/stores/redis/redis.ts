/**
 * Records in Redis, for any number of processes. Every move is one command or one script, so it is atomic.
 * Lifetimes are counted by the clock of this process, as in every store. Redis acknowledges a write before
 * it is on disk: with `waitAof` each write that matters waits for that, and without it whoever runs it
 * is told at start what a crash may take.
 */
import { randomUUID } from 'node:crypto';
import { UnavailableError } from '../../errors.ts';
import { createChannels } from '../channels.ts';
import { createLock } from '../lock.ts';
import { patienceMs } from '../patience.ts';
import type { Clock, Page, Store, StoredRecord } from '../store.ts';
import { createConnection, type Connection, type RedisAddress } from './connection.ts';
import { inspectServer } from './inspect.ts';
import * as scripts from './scripts.ts';

export interface RedisSettings extends RedisAddress {
  readonly namespace: string;
  /** How every key begins. */
  readonly prefix?: string | undefined;
  /** Connections beside the one for subscriptions: the first reads, the others write. */
  readonly pool?: number | undefined;
  /** A write is only done when it is in the append-only file on disk. */
  readonly waitAof?: boolean | undefined;
}

const defaultPrefix = 'elicitgate:';
const forever = Number.MAX_SAFE_INTEGER;
/** Redis' own expiry comes so much later than the record's end, so that clocks that differ take nothing early. */
const graceMs = 60_000;
const sweepEveryMs = 60_000;
const sweptAtOnce = 500;
const listedAtOnce = 500;
const lookAfterSubscriptionMs = 1_000;

/**
 * @param losable how the keys of those records begin that a crash of Redis may take
 * @returns the store, and what its operator should know
 * @throws UnavailableError when it cannot be reached, or cannot do what the settings ask for
 */
export async function openRedisStore(settings: RedisSettings, now: Clock, losable: readonly string[] = []): Promise<{ readonly store: Store; readonly warnings: readonly string[] }> {
  const base = `${settings.prefix ?? defaultPrefix}${encodeURIComponent(settings.namespace.toWellFormed())}:`;
  const { waitAof = false } = settings;
  const reader = createConnection(settings);
  const writers = Array.from({ length: (settings.pool ?? (waitAof ? 2 : 1)) - 1 }, () => createConnection(settings));
  const channels = createChannels();
  const sender = randomUUID();
  const subscriber = createConnection(settings, {
    channel: `${base}messages`,
    listener(text) {
      const [from, channel, message] = readMessage(text);
      if (from !== sender && channel !== undefined && message !== undefined) channels.publish(channel, message);
    },
    missed: channels.missed,
  });
  const all = [reader, ...writers, subscriber];
  const close = (): void => {
    for (const connection of all) connection.close();
  };
  try {
    await Promise.all(all.map((connection) => connection.open()));
    const warnings = await inspectServer(reader, waitAof);
    const mustBeOnDisk = (key: string): boolean => waitAof && !losable.some((prefix) => key.startsWith(prefix));
    // A connection that only listens would never find out that it is dead.
    const look = setInterval(() => void subscriber.command('PING').catch(() => undefined), lookAfterSubscriptionMs).unref();
    const records = createRecords({ base, reader, writers: writers.length === 0 ? [reader] : writers, mustBeOnDisk }, now);
    const moves: Omit<Store, 'lock'> = {
      ...records,
      async publish(channel, message = '') {
        channels.publish(channel, message);
        await reader.command('PUBLISH', `${base}messages`, JSON.stringify([sender, channel, message]));
      },
      subscribe: channels.subscribe,
      async close() {
        clearInterval(look);
        records.stop();
        close();
      },
    };
    return { store: { ...moves, lock: createLock(moves) }, warnings };
  } catch (error) {
    close();
    throw error;
  }
}

interface Wiring {
  /** How every name of this installation begins. */
  readonly base: string;
  readonly reader: Connection;
  readonly writers: readonly Connection[];
  readonly mustBeOnDisk: (key: string) => boolean;
}

type RecordMoves = Pick<Store, 'get' | 'put' | 'putIfAbsent' | 'compareAndSet' | 'take' | 'delete' | 'list' | 'ping'>;

function createRecords({ base, reader, writers, mustBeOnDisk }: Wiring, now: Clock): RecordMoves & { readonly stop: () => void } {
  let written = 0;
  const keysOf = (key: string): string[] => [`${base}record:${key}`, `${base}index`, `${base}expiry`];
  async function write(script: scripts.Script, key: string, value?: Uint8Array, ttlMs?: number, expected?: Uint8Array): Promise<unknown> {
    const writer = writers[(written += 1) % writers.length] ?? reader;
    const more = value === undefined ? [] : [withHead(value, ttlMs === undefined ? forever : now() + ttlMs), ttlMs === undefined ? '' : String(Math.ceil(ttlMs) + graceMs)];
    const answer = await writer.run(script, keysOf(key), [String(now()), key, ...more, ...(expected === undefined ? [] : [Buffer.from(expected)])]);
    if (mustBeOnDisk(key)) checkOnDisk(await writer.command('WAITAOF', '1', '0', String(patienceMs - 100)));
    return answer;
  }
  const sweep = setInterval(() => void sweepAll().catch(() => undefined), sweepEveryMs).unref();
  async function sweepAll(): Promise<void> {
    const swept = (): Promise<unknown> => reader.run(scripts.sweep, keysOf(''), [String(now()), String(sweptAtOnce), `${base}record:`]);
    while ((await swept()) === sweptAtOnce);
  }

  return {
    get: async (key) => recordOf(key, await reader.command('GET', `${base}record:${key}`), now())[0]?.value,
    async put(key, value, ttlMs) {
      await write(scripts.put, key, value, ttlMs);
    },
    putIfAbsent: async (key, value, ttlMs) => (await write(scripts.putIfAbsent, key, value, ttlMs)) === 1,
    compareAndSet: async (key, expected, value, ttlMs) => (await write(scripts.compareAndSet, key, value, ttlMs, expected)) === 1,
    take: async (key) => recordOf(key, await write(scripts.take, key), now())[0]?.value,
    async delete(key) {
      await write(scripts.remove, key);
    },
    list: (prefix, page) => listRecords(reader, base, prefix, page, now),
    async ping() {
      await write(scripts.put, 'ping', new Uint8Array(1), sweepEveryMs);
    },
    stop: () => { clearInterval(sweep); },
  };
}

async function listRecords(reader: Connection, base: string, prefix: string, page: Page | undefined, now: Clock): Promise<readonly StoredRecord[]> {
  const { after, limit } = page ?? { after: '', limit: Infinity };
  const end = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]);
  const found: StoredRecord[] = [];
  let start = Buffer.from(after !== '' && after >= prefix ? `(${after}` : `[${prefix}`);
  for (;;) {
    const answer = await reader.command('ZRANGE', `${base}index`, start, end, 'BYLEX', 'LIMIT', '0', String(listedAtOnce));
    const keys = buffersIn(answer);
    const values = keys.length === 0 ? [] : await reader.command('MGET', ...keys.map((key) => Buffer.concat([Buffer.from(`${base}record:`), key])));
    if (Array.isArray(values)) found.push(...keys.flatMap((key, at) => recordOf(String(key), values[at], now())));
    const last = keys.at(-1);
    if (last === undefined || keys.length < listedAtOnce || found.length >= limit) return found.slice(0, limit);
    start = Buffer.concat([Buffer.from('('), last]);
  }
}

function buffersIn(answer: unknown): readonly Buffer[] {
  return Array.isArray(answer) ? answer.filter((one): one is Buffer => Buffer.isBuffer(one)) : [];
}

/** @throws UnavailableError when the append-only file did not take it in time */
function checkOnDisk(answer: unknown): void {
  const [local] = Array.isArray(answer) ? (answer as unknown[]) : [];
  if (Number(local) < 1) throw new UnavailableError('Redis did not bring a write to its disk in time');
}

function withHead(value: Uint8Array, expiresAt: number): Buffer {
  return Buffer.concat([Buffer.from(String(expiresAt).padStart(scripts.headLength, '0')), value]);
}

function recordOf(key: string, stored: unknown, time: number): StoredRecord[] {
  if (!Buffer.isBuffer(stored)) return [];
  const expiresAt = Number(stored.toString('latin1', 0, scripts.headLength));
  if (!(expiresAt > time)) return [];
  return [{ key, value: Uint8Array.from(stored.subarray(scripts.headLength)), ...(expiresAt === forever ? {} : { expiresAt }) }];
}

/** Whoever may publish there can say anything; what is no message of ours is nobody's. */
function readMessage(text: string): readonly (string | undefined)[] {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : [];
  } catch {
    return [];
  }
}
