/**
 * One connection to Redis that comes back by itself. A command waits for a connection that is being made,
 * as long as its patience lasts, unless one could not be made already; one that is sent and stays without an answer shows a dead connection,
 * which is thrown away, because the system notices that only after minutes.
 */
import { readFileSync } from 'node:fs';
import { createClient, RESP_TYPES, type RedisClientOptions } from 'redis';
import { UnavailableError } from '../../errors.ts';
import { patienceMs, within } from '../patience.ts';
import type { Script } from './scripts.ts';

export interface RedisAddress {
  /** redis[s]://[[user]:password@]host[:port][/database] */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** A file with the authorities that the server's certificate is checked against. */
  readonly ca?: string | undefined;
}

export interface Connection {
  /** The first time. @throws UnavailableError */
  open(): Promise<void>;
  /** @throws UnavailableError */
  command(...args: (string | Buffer)[]): Promise<unknown>;
  /** The same, of a script; Redis keeps it until it restarts. */
  run(script: Script, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<unknown>;
  close(): void;
}

export interface Subscription {
  readonly channel: string;
  readonly listener: (message: string) => void;
  /** The connection was away, and is back. */
  readonly missed: () => void;
}

const longestPauseMs = 1_000;

export function createConnection(address: RedisAddress, subscription?: Subscription): Connection {
  const options = clientOptions(address);
  let isClosed = false;
  let lastError: unknown;
  /** Since it was ready: the loss of a connection is one, and each that could not be made. */
  let troubles = 0;
  let answeredAt = performance.now();
  let current = begin();

  function begin() {
    const client = createClient(options);
    let hasBeenReady = false;
    client.on('error', (error: unknown) => {
      lastError = error;
      troubles += 1;
    });
    client.on('ready', () => {
      if (hasBeenReady) subscription?.missed();
      hasBeenReady = true;
      troubles = 0;
    });
    const connected = client.connect().then(() => (subscription === undefined ? undefined : client.subscribe(subscription.channel, subscription.listener)));
    connected.catch(() => undefined);
    return { client, connected };
  }
  function renew(dead: typeof current): void {
    if (isClosed || current !== dead) return;
    dead.client.destroy();
    current = begin();
    if (subscription !== undefined) current.connected.then(subscription.missed, () => undefined);
  }
  async function send(work: (client: typeof current.client) => Promise<unknown>): Promise<unknown> {
    if (isClosed) throw new UnavailableError('the Redis store is closed');
    const used = current;
    const sentAt = performance.now();
    try {
      const answer = await within(work(used.client), 'Redis');
      answeredAt = performance.now();
      return answer;
    } catch (error) {
      const why = isTimeout(error) && !used.client.isReady ? lastError ?? error : error;
      // A handshake without an answer is given up by nobody else, either.
      if (isTimeout(error) && answeredAt < sentAt) renew(used);
      throw failure(why);
    }
  }

  /** A connection that was just lost is waited for; one that cannot be made is not. */
  const ask = (work: (client: typeof current.client) => Promise<unknown>): Promise<unknown> =>
    !isClosed && !current.client.isReady && troubles > 1 ? Promise.reject(failure(lastError)) : send(work);

  return {
    async open() {
      await send(() => current.connected);
    },
    command: (...args) => ask((client) => client.sendCommand(args)),
    run: (script, keys, args) => ask(async (client) => {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await client.sendCommand(['EVALSHA', script.sha1, ...rest]);
      } catch (error) {
        if (codeOf(error) !== 'NOSCRIPT') throw error;
        return await client.sendCommand(['EVAL', script.text, ...rest]);
      }
    }),
    close() {
      isClosed = true;
      current.client.destroy();
    },
  };
}

function clientOptions({ url, user, password, ca }: RedisAddress) {
  const isTls = url.startsWith('rediss:');
  const reconnect = { connectTimeout: patienceMs, reconnectStrategy: (retries: number) => Math.min(longestPauseMs, 25 * 2 ** retries) };
  const options = {
    url,
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    socket: isTls ? { ...reconnect, tls: true as const, ...(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }) } : reconnect,
    // What was not sent in time is not sent later; a little after nobody waits for it any more.
    commandOptions: { timeout: patienceMs + 100, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    maintNotifications: 'disabled' as const,
    disableClientInfo: true,
  };
  return options satisfies RedisClientOptions;
}

/** Nobody else throws this while a command is under way. */
function isTimeout(error: unknown): boolean {
  return error instanceof UnavailableError;
}

const faults: Readonly<Record<string, string>> = {
  WRONGPASS: 'it refuses the password',
  NOAUTH: 'it wants a password',
  NOPERM: 'the user lacks the rights',
  READONLY: 'it is a read-only replica',
  OOM: 'its memory is full',
  MISCONF: 'it cannot write to its disk',
  LOADING: 'it is still loading its data',
  MASTERDOWN: 'it has lost its primary',
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'its host is unknown',
};

export function failure(cause: unknown): UnavailableError {
  if (cause instanceof UnavailableError) return cause;
  const fault = faults[codeOf(cause) ?? ''];
  return new UnavailableError(`the Redis store failed${fault === undefined ? '' : `: ${fault}`}`, { cause });
}

/** The system's code, or the first word of Redis' own answer, which is one (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{2,}(?= )/.exec(error.message)?.[0];
}
