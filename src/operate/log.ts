/** The operating log: objects with fixed field names, one line each. Never a URL's query, a header value, a body or a token. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { UnavailableError } from '../errors.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly format: 'json' | 'pretty';
}

const longestChain = 5;

/** Error texts of libraries may quote what they were given, so of an error only its kind, code and chain are kept. */
export function describeError(error: unknown, depth = 1): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${plainWord(error.code)}` : '';
  const own = error instanceof UnavailableError ? `: ${error.message}` : '';
  const cause = error.cause === undefined || depth === longestChain ? '' : ` < ${describeError(error.cause, depth + 1)}`;
  return `${plainWord(error.name)}${code}${own}${cause}`;
}

/** Names and codes are words; whatever else stands there may be a quotation. */
function plainWord(text: string): string {
  return /^\w{1,64}$/.test(text) ? text : '?';
}

export function createLog(settings: LogSettings, destination: DestinationStream): Log {
  return pino(
    { level: settings.level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    settings.format === 'pretty' ? forPeople(destination) : destination,
  );
}

function forPeople(destination: DestinationStream): DestinationStream {
  const prettify = prettyFactory({ colorize: false, translateTime: 'HH:MM:ss', singleLine: true });
  return { write: (line) => { destination.write(prettify(line)); } };
}
