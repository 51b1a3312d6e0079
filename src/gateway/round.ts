/**
 * `requestState` (2026-07-28, basic/patterns/mrtr): what a round of questions must remember, sealed for one
 * person, client, upstream and request, and only for a while. It grants nothing: whether a credential is
 * there is read from the vault. An upstream's own state travels inside.
 */
import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../errors.ts';
import { memberText } from '../protocol/json-edit.ts';
import type { Clock } from '../stores/store.ts';
import type { Principal } from '../identity/principal.ts';
import type { RpcMessage } from '../protocol/json-rpc.ts';
import type { KeyRing } from '../vault/key-ring.ts';

export interface Round {
  /** Keys of our questions, which are credential names. */
  readonly asked: readonly string[];
  readonly tickets: readonly string[];
  readonly upstreamState?: string;
}

interface SealedRound extends Round {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The request that a state belongs to. */
interface Asked {
  readonly principal: Principal;
  readonly upstream: { readonly config: { readonly name: string } };
  readonly message: RpcMessage;
  readonly body: Buffer;
}

export interface Rounds {
  seal(call: Asked, round: Round): string;
  /** @returns the round, and whether its time is over; `foreign` when it was not sealed for this request */
  open(call: Asked, state: string): Result<Round & { readonly isExpired: boolean }, 'foreign'>;
}

const lifeMs = 15 * 60_000;

export function createRounds(ring: KeyRing, namespace: string, now: Clock): Rounds {
  return {
    seal(call, round) {
      const sealed: SealedRound = { ...round, expiresAt: now() + lifeMs };
      return ring.seal('request-state', identityOf(namespace, call), Buffer.from(JSON.stringify(sealed))).toString('base64url');
    },
    open(call, state) {
      const bytes = Buffer.from(state, 'base64url');
      // base64url has several spellings of the same bytes; only the one that was given is taken.
      const plaintext = bytes.toString('base64url') === state ? ring.open('request-state', identityOf(namespace, call), bytes) : undefined;
      if (plaintext === undefined) return err('foreign');
      // Sealed by `seal` under this installation's keys: the tag is the check of its shape.
      const { expiresAt, ...round } = JSON.parse(plaintext.toString()) as SealedRound;
      return ok({ ...round, isExpired: expiresAt <= now() });
    },
  };
}

function identityOf(namespace: string, { principal, upstream, message, body }: Asked): string[] {
  const method = message.kind === 'response' ? '' : message.method;
  const text = body.toString();
  const parts = ['name', 'uri', 'arguments'].map((key) => canonical(memberText(text, ['params', key])));
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return [namespace, principal.issuer, principal.subject, principal.clientId ?? '', upstream.config.name, method, digest];
}

/** What TypeScript's library does not describe yet. */
const exactJson = JSON as unknown as {
  readonly parse: (text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown) => unknown;
};

/** The same text for the same value, however its keys are ordered and spaced; numbers by their digits. */
function canonical(text: string | undefined): string {
  if (text === undefined) return '';
  return JSON.stringify(exactJson.parse(text, (_key, value, { source }) => {
    if (typeof value === 'number') return { number: source };
    if (typeof value !== 'object' || value === null) return { value };
    return Array.isArray(value) ? value : { members: Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) };
  }));
}
