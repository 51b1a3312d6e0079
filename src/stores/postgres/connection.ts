/** How PostgreSQL is reached: the address in its parts, TLS, and connections that give up in time. */
import { readFileSync } from 'node:fs';
import { Pool, type PoolConfig } from 'pg';
import { patienceMs } from '../patience.ts';

export interface PostgresAddress {
  /** postgres://[user[:password]@]host[:port]/database[?sslmode=…] */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** A file with the authorities that the server's certificate is checked against; turns TLS on. */
  readonly ca?: string | undefined;
  /** Connections at most. */
  readonly pool?: number | undefined;
}

const defaultPool = 10;

export function createPool(address: PostgresAddress): Pool {
  const url = new URL(address.url);
  const { user, password } = address;
  const host = url.searchParams.get('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
  // By the URL's parts, so that what the driver reads into further parameters does not count.
  const settings: PoolConfig = {
    host,
    port: url.port === '' ? 5_432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)),
    user: user ?? decodeURIComponent(url.username),
    password: password ?? decodeURIComponent(url.password),
    application_name: 'elicitgate',
    max: address.pool ?? defaultPool,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    allowExitOnIdle: true,
  };
  // The host again: the driver names only hosts that are no addresses, and for an address "localhost" would be checked.
  const tls = tlsSettings(url.searchParams.get('sslmode'), address.ca);
  const pool = new Pool(tls === undefined ? settings : { ...settings, ssl: { ...tls, host } });
  // A connection that breaks while nobody uses it is replaced; the next query says whether that is possible.
  pool.on('error', () => undefined);
  return pool;
}

/** Modes that would let anybody answer in the server's place are not there: whoever wants TLS gets it checked. */
function tlsSettings(mode: string | null, caFile: string | undefined) {
  if (mode === 'disable' || (mode === null && caFile === undefined)) return undefined;
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') };
  return { ...ca, rejectUnauthorized: true, ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}) };
}
