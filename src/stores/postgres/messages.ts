/**
 * Publish and subscribe between processes, by a small table that each reads four times a second. LISTEN
 * would need a connection of its own that no pooler between may share, and would lose what is said while
 * it reconnects; a table works behind every pooler and after every fail-over.
 *
 * Rows become visible in the order of their commits and not of their ids, so each look takes in the last
 * few seconds and leaves out what it has seen. Whoever could not look for longer than that tells all its
 * subscribers that something may have been missed.
 */
import { randomUUID } from 'node:crypto';
import type { Channels } from '../channels.ts';
import type { TableNames } from './tables.ts';

/** Runs one statement. @throws UnavailableError */
export type Query = (sql: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly rowCount: number | null }>;

export interface Messages {
  publish(channel: string, message: string): Promise<void>;
  close(): Promise<void>;
}

const lookEveryMs = 250;
const windowSeconds = 10;
const keptSeconds = 60;

/** What was said before is nobody's business here. @throws UnavailableError when it cannot be looked at even once */
export async function openMessages(query: Query, tables: TableNames, namespace: string, channels: Channels): Promise<Messages> {
  const sender = randomUUID();
  let seen: ReadonlySet<unknown> = new Set();
  let lookedAt = performance.now();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();

  async function look(tell = true): Promise<void> {
    const startedAt = performance.now();
    const { rows } = await query(
      `SELECT id, channel, message FROM ${tables.messages} WHERE namespace = $1 AND sender <> $2 AND sent_at > clock_timestamp() - make_interval(secs => $3) ORDER BY id`,
      [namespace, sender, windowSeconds],
    );
    const before = seen;
    // A row that was sent just before the last look may have been committed after it.
    const hasMissed = startedAt - lookedAt > (windowSeconds * 1_000) / 2;
    seen = new Set(rows.map(({ id }) => id));
    lookedAt = startedAt;
    if (!tell) return;
    if (hasMissed) channels.missed();
    else for (const { id, channel, message } of rows) if (!before.has(id)) channels.publish(String(channel), String(message));
  }
  function lookLater(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      looking = look().catch(() => undefined).finally(lookLater);
    }, lookEveryMs).unref();
  }
  await look(false);
  lookLater();

  return {
    async publish(channel, message) {
      await query(`INSERT INTO ${tables.messages} (namespace, sender, channel, message) VALUES ($1, $2, $3, $4)`, [namespace, sender, channel, message]);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** Takes out what everybody has seen. */
export async function sweepMessages(query: Query, tables: TableNames): Promise<void> {
  await query(`DELETE FROM ${tables.messages} WHERE sent_at < clock_timestamp() - make_interval(secs => $1)`, [keptSeconds]);
}
