/** The key `vault.store`: one address, or a map when a database needs more than an address. */
import * as z from 'zod';
import { err, ok } from '../errors.ts';
import { path, read, secret, words } from './values.ts';

export type Store =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | ({ readonly kind: 'postgres' | 'redis'; readonly url: string } & StoreOptions);

export interface StoreOptions {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly ca?: string | undefined;
  readonly pool?: number | undefined;
  readonly prefix?: string | undefined;
  readonly waitAof?: boolean | undefined;
}

const kinds = 'memory:, sqlite:PATH, postgres://… or redis://…';
const sslmodes = [null, 'disable', 'require', 'verify-ca', 'verify-full'];

const address = () =>
  read<Store>((value) => {
    if (value === 'memory:') return ok({ kind: 'memory' });
    if (/^sqlite:.*[^\s/]$/.test(value)) return ok({ kind: 'sqlite', path: value.slice('sqlite:'.length) });
    const kind = /^postgres(ql)?:\/\/./.test(value) ? 'postgres' : /^rediss?:\/\/./.test(value) ? 'redis' : undefined;
    if (kind === undefined) return err(kinds);
    const url = URL.parse(value);
    if (url === null) return err(`an address such as ${kind === 'postgres' ? 'postgres://user@host/database' : 'redis://host:6379'}; other characters than letters and digits of a password percent-encoded, or under store.password`);
    const isKnown = kind === 'redis' || sslmodes.includes(url.searchParams.get('sslmode'));
    return isKnown ? ok({ kind, url: value }) : err('an address with sslmode=disable, require, verify-ca or verify-full');
  }).meta({ writeOnly: true });

/** A schema's name and a dot may stand in front of a table's. */
const tablePrefix = /^([A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]{0,40}$/;

const map = () =>
  z
    .strictObject({
      url: address().describe(`The address: ${kinds}.`),
      user: words().exactOptional().describe('Instead of the address’s own.'),
      password: secret().exactOptional().describe('Instead of the address’s own, and not percent-encoded.'),
      ca: path().exactOptional().describe('A file with the certificate authorities of the database; for Redis with rediss://.'),
      pool: z.int().min(1).max(1_000).exactOptional().describe('Connections of one process; by default 10 to PostgreSQL; of Redis 1, or 2 with waitAof.'),
      prefix: words().exactOptional().describe('How Redis keys, or names of PostgreSQL tables, begin: elicitgate: or elicitgate_ by default.'),
      waitAof: z.boolean().exactOptional().describe('Redis 7.2: a write is only done when it is in the append-only file on disk.'),
    })
    .transform(({ url, ...options }, context): Store => {
      const problem = whatDoesNotFit(url, options);
      if (problem === undefined) return url.kind === 'memory' || url.kind === 'sqlite' ? url : { ...url, ...options };
      context.issues.push({ code: 'custom', message: problem, input: url, path: [] });
      return z.NEVER;
    });

function whatDoesNotFit(store: Store, options: StoreOptions): string | undefined {
  if (store.kind === 'memory' || store.kind === 'sqlite') return Object.keys(options).length === 0 ? undefined : `${store.kind} takes nothing but its url`;
  if (store.kind === 'redis') return options.ca !== undefined && !store.url.startsWith('rediss:') ? 'a rediss:// address with ca' : undefined;
  if (options.waitAof !== undefined) return 'waitAof only with redis://';
  return options.prefix === undefined || tablePrefix.test(options.prefix) ? undefined : 'a prefix of letters, digits and _, with a schema and a dot in front of it or without';
}

export const store = () => z.union([address(), map()]);
