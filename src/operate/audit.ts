/**
 * The audit trail: one JSON line for each thing that happened to a person's credential. With
 * `audit.required` a line is on its way to the disk before anything is injected, and a line that cannot
 * be written stops the call; otherwise the uses in one turn of the event loop leave together. A line
 * never holds a secret or a link.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { UnavailableError } from '../errors.ts';
import type { Principal } from '../identity/principal.ts';
import type { Clock } from '../stores/store.ts';

export type AuditEvent =
  | 'asked'
  | 'opened'
  | 'wrong-person'
  | 'submitted'
  | 'verified'
  | 'stored'
  | 'consent'
  | 'used'
  | 'rejected'
  | 'left'
  | 'refreshed'
  | 'ended'
  | 'declined'
  | 'renewed'
  | 'revoked'
  | 'login'
  | 'logout';

export interface AuditFacts {
  readonly principal: Pick<Principal, 'issuer' | 'subject' | 'clientId'>;
  /** Absent for logins. */
  readonly upstream?: string;
  readonly credential?: string;
  readonly tool?: string | undefined;
  /** A resource's URI without its query, and a prompt. */
  readonly resource?: string | undefined;
  readonly prompt?: string | undefined;
  /** What the client calls itself. */
  readonly clientName?: string | undefined;
  /** How the question reached the client. */
  readonly rung?: string | undefined;
  readonly outcome?: string | undefined;
}

export interface Audit {
  /** @throws UnavailableError when the trail is required and cannot be written */
  record(event: AuditEvent, facts: AuditFacts): void;
  close(): void;
}

export type AuditTarget = { readonly kind: 'stdout' } | { readonly kind: 'file'; readonly path: string };

export interface AuditSettings {
  readonly to: readonly AuditTarget[];
  readonly required: boolean;
}

interface Writer {
  write(line: string): void;
  close(): void;
}

/**
 * @param stdout writes to standard output; throws when it cannot
 * @param failed is told of a line that could not be written where the trail is not required
 * @throws UnavailableError when a file cannot be opened, whether or not the trail is required
 */
export function openAudit(settings: AuditSettings, stdout: (line: string) => void, now: Clock, failed: (error: unknown) => void): Audit {
  const writers = settings.to.map((target): Writer => (target.kind === 'stdout' ? { write: stdout, close: () => undefined } : openFile(target.path)));
  let waiting = '';
  function write(lines: string): void {
    for (const writer of writers) {
      try {
        writer.write(lines);
      } catch (cause) {
        if (settings.required) throw new UnavailableError('the audit trail cannot be written', { cause });
        failed(cause);
      }
    }
  }
  function flush(): void {
    const lines = waiting;
    waiting = '';
    if (lines !== '') write(lines);
  }
  /** Every call has a use, so these are many. */
  function writeSoon(line: string): void {
    if (waiting === '') setImmediate(flush);
    waiting += line;
  }
  function writeNow(line: string): void {
    flush();
    write(line);
  }
  return {
    record(event, { principal, ...facts }) {
      const { issuer, subject, clientId } = principal;
      const add = event === 'used' && !settings.required ? writeSoon : writeNow;
      add(`${JSON.stringify({ time: new Date(now()).toISOString(), audit: event, issuer, subject, clientId, ...facts })}\n`);
    },
    close() {
      flush();
      for (const writer of writers) writer.close();
    },
  };
}

function openFile(path: string): Writer {
  const file = openToAppend(path);
  let isTorn = false;
  return {
    write(line) {
      // After half a line the next one begins on its own.
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      const written = writeSync(file, bytes);
      isTorn = written !== bytes.length;
      if (isTorn) throw new Error('the disk took only part of a line');
    },
    close() {
      closeSync(file);
    },
  };
}

function openToAppend(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    throw new UnavailableError(`the audit file ${path} cannot be opened`, { cause });
  }
}
