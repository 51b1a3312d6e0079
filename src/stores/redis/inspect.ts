/** What a Redis server would do to records in a crash or when its memory is full: asked once, at start. */
import { UnavailableError } from '../../errors.ts';
import type { Connection } from './connection.ts';

/**
 * @returns what its operator should know, one sentence each
 * @throws UnavailableError when `waitAof` is asked for and the server cannot do it
 */
export async function inspectServer(connection: Connection, waitAof: boolean): Promise<readonly string[]> {
  const info = await ask(connection, 'INFO');
  const isAppending = /^aof_enabled:1\r?$/m.test(info);
  if (waitAof) await mustWait(connection, isAppending);
  return [isAppending ? undefined : await withoutAppending(connection), eviction(info)].filter((warning) => warning !== undefined);
}

async function mustWait(connection: Connection, isAppending: boolean): Promise<void> {
  if (!isAppending) throw new UnavailableError('vault.store.waitAof needs a Redis with appendonly yes');
  try {
    await connection.command('WAITAOF', '0', '0', '1');
  } catch (error) {
    throw new UnavailableError('vault.store.waitAof needs Redis 7.2 or newer, and the right to use WAITAOF', { cause: error });
  }
}

async function withoutAppending(connection: Connection): Promise<string> {
  const saved = await ask(connection, 'CONFIG', 'GET', 'save');
  if (saved === '') return 'Redis does not say whether it keeps anything on disk; without appendonly yes a crash loses what people gave since the last snapshot, or everything';
  if (/^save\s*$/.test(saved.trim())) return 'Redis keeps nothing on disk: a restart of it loses every credential; set appendonly yes';
  return 'Redis keeps snapshots only: a crash of it loses what people gave since the last one; set appendonly yes';
}

function eviction(info: string): string | undefined {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  return policy === undefined || policy === 'noeviction' ? undefined : `Redis drops records when its memory is full (maxmemory-policy ${policy}): people would be asked again; set noeviction`;
}

/** @returns '' when the server does not answer this user */
async function ask(connection: Connection, ...command: string[]): Promise<string> {
  try {
    return flat(await connection.command(...command));
  } catch (error) {
    if (error instanceof UnavailableError && error.cause instanceof Error) return '';
    throw error;
  }
}

function flat(answer: unknown): string {
  if (Array.isArray(answer)) return answer.map(flat).join('\n');
  if (answer instanceof Map) return flat([...answer].flat());
  if (typeof answer === 'object' && answer !== null && !Buffer.isBuffer(answer)) return flat(Object.entries(answer).flat());
  return String(answer);
}
