/**
 * What a program says beside the protocol: standard error, and noise on standard output. It is always read,
 * so that the program never waits for a reader; of it a few lines at a time reach the log, cut, and without
 * what a person gave.
 */
import type { Report } from './peer.ts';

const linesPerPeriod = 20;
const periodMs = 10_000;
const longestLine = 500;
const shortestSecret = 4;

/** What it said, or what is said of a program that did not start. */
type Stream = 'stderr' | 'stdout' | 'start';

const texts: Readonly<Record<Stream, string>> = { stderr: 'the program said', stdout: 'the program wrote a line that is no message', start: 'the program did not start' };

export type Say = (line: string, stream: Stream, secrets: ReadonlySet<string>) => void;

/** @returns for all processes of one upstream; they share its allowance */
export function createProgramWords(report: Report, now: () => number): Say {
  let periodFrom = -Infinity;
  let said = 0;
  let kept = 0;
  return (line, stream, secrets) => {
    if (now() - periodFrom >= periodMs) {
      if (kept > 0) report({ lines: kept }, 'more lines of the program were left out');
      periodFrom = now();
      said = 0;
      kept = 0;
    }
    said += 1;
    if (said > linesPerPeriod) {
      kept += 1;
      return;
    }
    report({ stream, line: withoutSecrets(line, secrets).slice(0, longestLine) }, texts[stream]);
  };
}

/** Values are looked for as they are, and as programs like to write them. */
export function withoutSecrets(line: string, secrets: Iterable<string>): string {
  const spellings = [...secrets]
    .flatMap((secret) => [secret, ...secret.split(/[\r\n]+/)])
    .filter((secret) => secret.length >= shortestSecret)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64').replace(/=+$/, ''), Buffer.from(secret).toString('hex')]);
  return [...new Set(spellings)].sort((a, b) => b.length - a.length).reduce((text, secret) => text.replaceAll(secret, '[redacted]'), line);
}
