/**
 * Records in PostgreSQL, for any number of processes. Every move is one statement on one row, so it is
 * atomic by itself at every isolation level, and nothing is kept in a connection (no prepared names, no
 * session locks, no LISTEN): a pooler in transaction mode may stand between. Lifetimes are counted by the
 * clock of this process, as in every store; what has expired is taken out once a minute.
 */
import type { Pool } from 'pg';
import { UnavailableError } from '../../errors.ts';
import { createChannels } from '../channels.ts';
import { createLock } from '../lock.ts';
import { within } from '../patience.ts';
import type { Clock, Store, StoredRecord } from '../store.ts';
import { createPool, type PostgresAddress } from './connection.ts';
import { openMessages, sweepMessages, type Query } from './messages.ts';
import { migrate, newestVersion, tableNames, versionOf, type TableNames } from './tables.ts';

export interface PostgresSettings extends PostgresAddress {
  readonly namespace: string;
  /** How the tables' names begin. */
  readonly prefix?: string | undefined;
  /** False: the tables must be there already. */
  readonly migrate?: boolean | undefined;
}

const defaultPrefix = 'elicitgate_';
const sweepEveryMs = 60_000;
const forever = Number.MAX_SAFE_INTEGER;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: rolled back for no fault of the statement's own. */
const mayBeRepeated: ReadonlySet<unknown> = new Set(['40001', '40P01']);
const attempts = 5;

/** @throws UnavailableError when the database cannot be reached or its tables cannot be used */
export async function openPostgresStore(settings: PostgresSettings, now: Clock): Promise<Store> {
  const pool = createPool(settings);
  const tables = tableNames(settings.prefix ?? defaultPrefix);
  try {
    await prepareTables(pool, tables, settings.migrate ?? true);
    return await createStore(pool, tables, settings.namespace, now);
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** `elicitgate migrate`. @returns how many steps there were to do */
export async function migratePostgres(settings: PostgresSettings): Promise<number> {
  const pool = createPool({ ...settings, pool: 1 });
  try {
    return await prepareTables(pool, tableNames(settings.prefix ?? defaultPrefix), true);
  } finally {
    await pool.end();
  }
}

async function prepareTables(pool: Pool, tables: TableNames, mayMigrate: boolean): Promise<number> {
  const version = await withinReason(versionOf(pool, tables));
  if (version > newestVersion) throw new UnavailableError('its tables were made by a newer version of Elicitgate');
  if (version === newestVersion) return 0;
  if (!mayMigrate) throw new UnavailableError(`its tables are ${version === 0 ? 'missing' : 'of an older version'}: run elicitgate migrate with this file`);
  const client = await withinReason(pool.connect());
  try {
    return await migrate(client, tables);
  } catch (error) {
    throw failure(error);
  } finally {
    client.release(true);
  }
}

async function createStore(pool: Pool, tables: TableNames, namespace: string, now: Clock): Promise<Store> {
  let isClosed = false;
  const query: Query = (sql, values) => {
    if (isClosed) return Promise.reject(new UnavailableError('the PostgreSQL store is closed'));
    return withinReason(repeatedly(() => pool.query(sql, [...values])));
  };
  const changes = async (sql: string, ...values: unknown[]): Promise<boolean> => (await query(sql, values)).rowCount === 1;
  const channels = createChannels();
  const messages = await openMessages(query, tables, namespace, channels);
  const sql = statements(tables);
  const expiry = (ttlMs?: number): number => (ttlMs === undefined ? forever : now() + ttlMs);
  const sweep = setInterval(() => {
    // A database that is away is told by those that need it.
    Promise.all([query(sql.sweep, [now()]), sweepMessages(query, tables)]).catch(() => undefined);
  }, sweepEveryMs).unref();

  const moves: Omit<Store, 'lock'> = {
    get: async (key) => valueOf((await query(sql.get, [namespace, key, now()])).rows),
    async put(key, value, ttlMs) {
      await changes(sql.put, namespace, key, bytes(value), expiry(ttlMs));
    },
    putIfAbsent: (key, value, ttlMs) => changes(sql.putIfAbsent, namespace, key, bytes(value), expiry(ttlMs), now()),
    compareAndSet: (key, expected, value, ttlMs) => changes(sql.compareAndSet, bytes(value), expiry(ttlMs), namespace, key, bytes(expected), now()),
    take: async (key) => valueOf((await query(sql.take, [namespace, key, now()])).rows),
    async delete(key) {
      await changes(sql.delete, namespace, key);
    },
    async list(prefix, page) {
      const { rows } = await query(sql.list, [namespace, prefix, `${prefix}\u{10ffff}`, page?.after ?? '', now(), page?.limit ?? null]);
      return rows.flatMap(recordOf);
    },
    async publish(channel, message = '') {
      channels.publish(channel, message);
      await messages.publish(channel, message);
    },
    subscribe: channels.subscribe,
    async ping() {
      await changes(sql.put, namespace, 'ping', Buffer.alloc(1), expiry(sweepEveryMs));
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(sweep);
      await messages.close();
      await pool.end();
    },
  };
  return { ...moves, lock: createLock(moves) };
}

function statements({ records }: TableNames) {
  const live = 'namespace = $1 AND key = $2 AND expires_at > $3';
  const upsert = `INSERT INTO ${records} AS present VALUES ($1, $2, $3, $4) ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;
  return {
    get: `SELECT value FROM ${records} WHERE ${live}`,
    put: upsert,
    putIfAbsent: `${upsert} WHERE present.expires_at <= $5`,
    compareAndSet: `UPDATE ${records} SET value = $1, expires_at = $2 WHERE namespace = $3 AND key = $4 AND value = $5 AND expires_at > $6`,
    take: `DELETE FROM ${records} WHERE ${live} RETURNING value`,
    delete: `DELETE FROM ${records} WHERE namespace = $1 AND key = $2`,
    list: `SELECT key, value, expires_at FROM ${records} WHERE namespace = $1 AND key >= $2 AND key < $3 AND key > $4 AND expires_at > $5 ORDER BY key LIMIT $6`,
    sweep: `DELETE FROM ${records} WHERE expires_at <= $1`,
  };
}

type Row = Readonly<Record<string, unknown>>;

function valueOf(rows: readonly Row[]): Uint8Array | undefined {
  const value = rows[0]?.['value'];
  return value instanceof Uint8Array ? new Uint8Array(value) : undefined;
}

/** The driver gives whole numbers of 64 bits as text. */
function recordOf({ key, value, expires_at: expires }: Row): StoredRecord[] {
  if (typeof key !== 'string' || !(value instanceof Uint8Array)) return [];
  const expiresAt = Number(expires);
  return [{ key, value: new Uint8Array(value), ...(expiresAt === forever ? {} : { expiresAt }) }];
}

/** The driver knows only Buffers as bytes. */
function bytes(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

async function repeatedly<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await statement();
    } catch (error) {
      if (attempt === attempts || !mayBeRepeated.has(codeOf(error))) throw error;
    }
  }
}

async function withinReason<T>(work: Promise<T>): Promise<T> {
  try {
    return await within(work, 'PostgreSQL');
  } catch (error) {
    throw failure(error);
  }
}

const faults: Readonly<Record<string, string>> = {
  '28P01': 'it refuses the password',
  '28000': 'it refuses the user',
  '3D000': 'there is no such database',
  '42501': 'the user lacks the rights',
  '42P01': 'its tables are missing',
  '25006': 'it is read-only',
  '53100': 'its disk is full',
  '53300': 'it takes no more connections',
  '57P03': 'it is starting or stopping',
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'its host is unknown',
};

function failure(cause: unknown): UnavailableError {
  if (cause instanceof UnavailableError) return cause;
  const fault = faults[String(codeOf(cause))];
  return new UnavailableError(`the PostgreSQL store failed${fault === undefined ? '' : `: ${fault}`}`, { cause });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
