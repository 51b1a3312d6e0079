/**
 * Records in one SQLite file, for one process. The file and its companions are readable by their owner
 * only; every write is on disk before it is acknowledged (WAL with synchronous FULL), and deleted bytes
 * are overwritten (secure_delete). Built on node:sqlite, whose statements run to their end at once: each
 * is one atomic move.
 */
import { closeSync, mkdirSync, openSync, fchmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { UnavailableError } from '../errors.ts';
import { createChannels } from './channels.ts';
import type { Clock, Store, StoredRecord } from './store.ts';

const busyTimeoutMs = 1_500;
const sweepEveryMs = 60_000;
const forever = Number.MAX_SAFE_INTEGER;

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA secure_delete = ON;
  CREATE TABLE IF NOT EXISTS records (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS records_by_expiry ON records (expires_at);`;

/**
 * @param path absolute path of the file; its folder is made when it is missing
 * @param namespace keeps several installations in one file apart
 * @throws UnavailableError when the file cannot be opened, is not a database or is damaged
 */
export function openSqliteStore(path: string, namespace: string, now: Clock): Store {
  const database = attempt(() => openPrivately(path));
  const channels = createChannels();
  const statements = attempt(() => prepare(database));
  const sweep = setInterval(() => {
    try {
      statements.sweep.run(now());
    } catch {
      // A busy or full disk: the next sweep tries again, and readers ignore what has expired.
    }
  }, sweepEveryMs).unref();

  const expiry = (ttlMs?: number): number => (ttlMs === undefined ? forever : now() + ttlMs);
  const changes = (statement: StatementSync, ...values: SQLInputValue[]): boolean =>
    attempt(() => statement.run(...values).changes) === 1;
  const bytes = (statement: StatementSync, ...values: SQLInputValue[]): Uint8Array | undefined => {
    const row = attempt(() => statement.get(...values));
    return row?.['value'] instanceof Uint8Array ? row['value'] : undefined;
  };

  return {
    async get(key) {
      return bytes(statements.get, namespace, key, now());
    },
    async put(key, value, ttlMs) {
      changes(statements.put, namespace, key, value, expiry(ttlMs));
    },
    async putIfAbsent(key, value, ttlMs) {
      return changes(statements.putIfAbsent, namespace, key, value, expiry(ttlMs), now());
    },
    async compareAndSet(key, expected, value, ttlMs) {
      return changes(statements.compareAndSet, value, expiry(ttlMs), namespace, key, expected, now());
    },
    async take(key) {
      return bytes(statements.take, namespace, key, now());
    },
    async delete(key) {
      changes(statements.delete, namespace, key);
    },
    async list(prefix) {
      const rows = attempt(() => statements.list.all(namespace, prefix, `${prefix}\u{10ffff}`, now()));
      return rows.flatMap((row): StoredRecord[] =>
        typeof row['key'] === 'string' && row['value'] instanceof Uint8Array ? [{ key: row['key'], value: row['value'] }] : [],
      );
    },
    async publish(channel) {
      channels.publish(channel);
    },
    subscribe: channels.subscribe,
    async ping() {
      changes(statements.put, namespace, 'ping', new Uint8Array(1), now() + sweepEveryMs);
    },
    async close() {
      clearInterval(sweep);
      attempt(() => {
        database.close();
      });
    },
  };
}

function openPrivately(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives the WAL the mode of the file, so the file is there, and private, before SQLite opens it.
  const file = openSync(path, 'a', 0o600);
  fchmodSync(file, 0o600);
  closeSync(file);
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  database.exec(schema);
  return database;
}

function prepare(database: DatabaseSync) {
  const live = 'namespace = ? AND key = ? AND expires_at > ?';
  return {
    get: database.prepare(`SELECT value FROM records WHERE ${live}`),
    put: database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)'),
    putIfAbsent: database.prepare(
      `INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (namespace, key)
       DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at WHERE records.expires_at <= ?`,
    ),
    compareAndSet: database.prepare(
      'UPDATE records SET value = ?, expires_at = ? WHERE namespace = ? AND key = ? AND value = ? AND expires_at > ?',
    ),
    take: database.prepare(`DELETE FROM records WHERE ${live} RETURNING value`),
    delete: database.prepare('DELETE FROM records WHERE namespace = ? AND key = ?'),
    list: database.prepare(
      'SELECT key, value FROM records WHERE namespace = ? AND key >= ? AND key < ? AND expires_at > ? ORDER BY key',
    ),
    sweep: database.prepare('DELETE FROM records WHERE expires_at <= ?'),
  };
}

function attempt<T>(move: () => T): T {
  try {
    return move();
  } catch (cause) {
    throw new UnavailableError('the SQLite store failed', { cause });
  }
}
