/**
 * Records in one SQLite file, for one process. The file and its companions are readable by their owner
 * only; every write is on disk before it is acknowledged (WAL with synchronous FULL), and deleted bytes
 * are overwritten (secure_delete). Built on node:sqlite, whose statements run to their end at once: each
 * is one atomic move, and while it waits for the disk so does everybody. Kinds of record that their owner
 * can ask for anew are therefore written through a second connection with synchronous NORMAL: a killed
 * process loses none of them, a power failure may lose the last ones, and the next durable write takes
 * along what was written before it. A file that another program has locked is waited for without holding
 * up the process.
 */
import { chmodSync, closeSync, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { UnavailableError } from '../errors.ts';
import { createChannels } from './channels.ts';
import { createLock } from './lock.ts';
import type { Clock, Store, StoredRecord } from './store.ts';

const lockedForMs = 1_000;
const lockedPauseMs = 25;
const sweepEveryMs = 60_000;
const forever = Number.MAX_SAFE_INTEGER;

const schema = `
  CREATE TABLE IF NOT EXISTS records (
    namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS records_by_expiry ON records (expires_at);`;

/**
 * @param path absolute path of the file; its folder is made when it is missing
 * @param namespace keeps several installations in one file apart
 * @param losable how the keys of those records begin that a power failure may take
 * @throws UnavailableError when the file cannot be opened, is not a database or is damaged
 */
export function openSqliteStore(path: string, namespace: string, now: Clock, losable: readonly string[] = []): Store {
  const { durable, quick, file } = attempt(() => openPrivately(path));
  const statementsFor = (key: string): Statements => (losable.some((prefix) => key.startsWith(prefix)) ? quick : durable).statements;
  const channels = createChannels();
  const sweep = setInterval(() => {
    try {
      durable.statements.sweep.run(now());
    } catch {
      // A busy or full disk: the next sweep tries again, and readers ignore what has expired.
    }
  }, sweepEveryMs).unref();

  const expiry = (ttlMs?: number): number => (ttlMs === undefined ? forever : now() + ttlMs);
  // SQLite goes on with a file that has no name any more, and what it writes there is lost.
  function move<T>(statement: () => T): T {
    if (!isSameFile(file, statSync(path, { throwIfNoEntry: false }))) throw new UnavailableError('the database file was moved, removed or replaced');
    return statement();
  }
  const changes = (statement: StatementSync, ...values: SQLInputValue[]): Promise<boolean> =>
    patiently(() => move(() => statement.run(...values).changes === 1));
  // Read to the end, so that a removal is on disk before its value is handed out.
  const rows = (statement: StatementSync, ...values: SQLInputValue[]): Promise<readonly Row[]> => patiently(() => move(() => statement.all(...values)));

  const moves: Omit<Store, 'lock'> = {
    async get(key) {
      return valueOf(await rows(statementsFor(key).get, namespace, key, now()));
    },
    async put(key, value, ttlMs) {
      await changes(statementsFor(key).put, namespace, key, value, expiry(ttlMs));
    },
    async putIfAbsent(key, value, ttlMs) {
      return changes(statementsFor(key).putIfAbsent, namespace, key, value, expiry(ttlMs), now());
    },
    async compareAndSet(key, expected, value, ttlMs) {
      return changes(statementsFor(key).compareAndSet, value, expiry(ttlMs), namespace, key, expected, now());
    },
    async take(key) {
      return valueOf(await rows(statementsFor(key).take, namespace, key, now()));
    },
    async delete(key) {
      await changes(statementsFor(key).delete, namespace, key);
    },
    async list(prefix, { after, limit } = { after: '', limit: -1 }) {
      const found = await rows(durable.statements.list, namespace, prefix, `${prefix}\u{10ffff}`, after, now(), limit);
      return found.flatMap(recordOf);
    },
    async publish(channel, message = '') {
      channels.publish(channel, message);
    },
    subscribe: channels.subscribe,
    async ping() {
      await changes(durable.statements.put, namespace, 'ping', new Uint8Array(1), now() + sweepEveryMs);
    },
    async close() {
      clearInterval(sweep);
      attempt(() => {
        quick.database.close();
        durable.database.close();
      });
    },
  };
  return { ...moves, lock: createLock(moves) };
}

type Row = Readonly<Record<string, unknown>>;

function valueOf(rows: readonly Row[]): Uint8Array | undefined {
  const value = rows[0]?.['value'];
  return value instanceof Uint8Array ? value : undefined;
}

function recordOf({ key, value, expires_at: expiresAt }: Row): StoredRecord[] {
  if (typeof key !== 'string' || !(value instanceof Uint8Array)) return [];
  return [{ key, value, ...(typeof expiresAt === 'number' && expiresAt !== forever ? { expiresAt } : {}) }];
}

interface Connection {
  readonly database: DatabaseSync;
  readonly statements: Statements;
}

function openPrivately(path: string) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = makePrivate(path);
  const durable = connect(path, 'FULL');
  try {
    return { durable, quick: connect(path, 'NORMAL'), file };
  } catch (error) {
    durable.database.close();
    throw error;
  }
}

function connect(path: string, synchronous: 'FULL' | 'NORMAL'): Connection {
  const database = new DatabaseSync(path, { timeout: lockedForMs });
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA secure_delete = ON; ${schema}`);
    const statements = prepare(database);
    // From here on nobody waits inside SQLite, where everybody else would wait too.
    database.exec('PRAGMA busy_timeout = 0');
    return { database, statements };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite gives its companions the mode of the file, so the file is there, and private, before SQLite opens it. */
function makePrivate(path: string): Stats {
  const file = openSync(path, 'a', 0o600);
  try {
    fchmodSync(file, 0o600);
    for (const companion of [`${path}-wal`, `${path}-shm`]) if (existsSync(companion)) chmodSync(companion, 0o600);
    return fstatSync(file);
  } finally {
    closeSync(file);
  }
}

function isSameFile(one: Stats, other: Stats | undefined): boolean {
  return other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

type Statements = ReturnType<typeof prepare>;

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
      'SELECT key, value, expires_at FROM records WHERE namespace = ? AND key >= ? AND key < ? AND key > ? AND expires_at > ? ORDER BY key LIMIT ?',
    ),
    sweep: database.prepare('DELETE FROM records WHERE expires_at <= ?'),
  };
}

/** Like `attempt`; what another program has locked is tried again for a while. */
async function patiently<T>(move: () => T): Promise<T> {
  const until = performance.now() + lockedForMs;
  for (;;) {
    try {
      return move();
    } catch (cause) {
      if (performance.now() >= until || primaryCode(cause) !== sqliteBusy) throw failure(cause);
    }
    await setTimeout(lockedPauseMs);
  }
}

function attempt<T>(move: () => T): T {
  try {
    return move();
  } catch (cause) {
    throw failure(cause);
  }
}

const sqliteBusy = 5;
const faults: Readonly<Record<number, string>> = {
  [sqliteBusy]: 'another program has it locked',
  8: 'it is read-only',
  10: 'the disk failed',
  11: 'it is damaged',
  13: 'the disk is full',
  14: 'it cannot be opened',
  26: 'it is not a database',
};

function failure(cause: unknown): UnavailableError {
  if (cause instanceof UnavailableError) return cause;
  const fault = faults[primaryCode(cause) ?? -1];
  return new UnavailableError(`the SQLite store failed${fault === undefined ? '' : `: ${fault}`}`, { cause });
}

/** https://www.sqlite.org/rescode.html: the low byte is the primary result code. */
function primaryCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
