/** The store that the file names. Drivers are loaded only by those who use them. */
import type { Store as StoreAddress } from '../config/schema-store.ts';
import { createMemoryStore } from './memory.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Clock, Store } from './store.ts';

export interface StoreSettings {
  readonly store: StoreAddress;
  readonly namespace: string;
  /** PostgreSQL: false when the tables must be there already. */
  readonly migrate?: boolean;
}

export interface OpenedStore {
  readonly store: Store;
  /** What its operator should know, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * @param losable how the keys of those records begin that a power failure may take
 * @throws UnavailableError when it cannot be used
 */
export async function openStore({ store, namespace, migrate }: StoreSettings, now: Clock, losable: readonly string[]): Promise<OpenedStore> {
  switch (store.kind) {
    case 'memory':
      return { store: createMemoryStore(now), warnings: [] };
    case 'sqlite':
      return { store: openSqliteStore(store.path, namespace, now, losable), warnings: [] };
    case 'postgres': {
      const { openPostgresStore } = await import('./postgres/postgres.ts');
      return { store: await openPostgresStore({ ...store, namespace, migrate }, now), warnings: [] };
    }
    case 'redis': {
      const { openRedisStore } = await import('./redis/redis.ts');
      return openRedisStore({ ...store, namespace }, now, losable);
    }
  }
}

/** Makes the tables of the store ready. @returns how many steps there were to do; undefined when it has no tables */
export async function migrateStore({ store, namespace }: StoreSettings): Promise<number | undefined> {
  if (store.kind !== 'postgres') return undefined;
  const { migratePostgres } = await import('./postgres/postgres.ts');
  return migratePostgres({ ...store, namespace });
}

/** What to check when it cannot be opened. Never with a password. */
export function storeWords(store: StoreAddress): { readonly name: string; readonly check: string } {
  switch (store.kind) {
    case 'memory':
      return { name: 'memory', check: 'This cannot happen.' };
    case 'sqlite':
      return { name: store.path, check: 'Check that its folder can be written and that the file is an SQLite database.' };
    case 'postgres':
    case 'redis':
      return { name: `at ${new URL(store.url).host}`, check: 'Check vault.store: the address, the user and the password, and that the database runs.' };
  }
}
