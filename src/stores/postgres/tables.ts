/**
 * The tables in PostgreSQL, and how they come to be. Migrations run in one transaction under an advisory
 * lock that ends with it, so several processes may start at once, also behind a pooler; who finds the
 * tables as they must be changes nothing and needs no right to.
 */
import type { Client } from 'pg';

/** Quoted, so that they can stand in SQL. */
export interface TableNames {
  readonly records: string;
  readonly messages: string;
  readonly version: string;
}

/** @param prefix letters, digits and _; in front of it may stand a schema and a dot */
export function tableNames(prefix: string): TableNames {
  const name = (table: string): string => `${prefix}${table}`.split('.').map((part) => `"${part}"`).join('.');
  return { records: name('records'), messages: name('messages'), version: name('version') };
}

/** One entry for each version; an entry is never changed once it is released. */
const migrations: readonly ((names: TableNames) => string)[] = [
  ({ records, messages }) => `
    CREATE TABLE ${records} (
      namespace text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value bytea NOT NULL, expires_at bigint NOT NULL,
      PRIMARY KEY (namespace, key)
    );
    CREATE INDEX ON ${records} (expires_at);
    CREATE TABLE ${messages} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, namespace text NOT NULL, sender text NOT NULL,
      channel text NOT NULL, message text NOT NULL, sent_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON ${messages} (sent_at);`,
];

export const newestVersion = migrations.length;

type Queries = Pick<Client, 'query'>;

/** @returns 0 when there are no tables yet */
export async function versionOf(client: Queries, names: TableNames): Promise<number> {
  // Reading a table makes the server forget names that it has looked up in vain; to_regclass alone does not, and would miss a table that was made meanwhile.
  const { rowCount } = await client.query('SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1)', [names.version]);
  if (rowCount === 0) return 0;
  const version = await client.query<{ version: number }>(`SELECT version FROM ${names.version}`);
  return version.rows[0]?.version ?? 0;
}

/** Any number, as long as nobody else's locks bear it. */
const lockId = 3_203_775_411;

/** Brings the tables to the newest version. @returns the versions that were applied just now */
export async function migrate(client: Queries, names: TableNames): Promise<number> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockId]);
    const before = await versionOf(client, names);
    if (before === 0) await client.query(`CREATE TABLE ${names.version} (version integer NOT NULL); INSERT INTO ${names.version} VALUES (0)`);
    for (const migration of migrations.slice(before)) await client.query(migration(names));
    await client.query(`UPDATE ${names.version} SET version = ${newestVersion} WHERE version < ${newestVersion}`);
    await client.query('COMMIT');
    return Math.max(0, newestVersion - before);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
