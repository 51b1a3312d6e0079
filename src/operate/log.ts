/** The operating log: objects with fixed field names, one line each. Never a URL's query, a header value, a body or a token. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly format: 'json' | 'pretty';
}

/** Error texts of libraries may quote what they were given, so of an error only its kind, code and chain are kept. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  const own = error.name === 'UnavailableError' ? `: ${error.message}` : '';
  return `${error.name}${code}${own}${error.cause === undefined ? '' : ` < ${describeError(error.cause)}`}`;
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
