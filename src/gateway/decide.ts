/** What happens to a call, once it is known what it needs and what is there: a pure decision. */
import type { Era } from '../protocol/era.ts';
import { hasScopes, type Secret } from '../vault/secrets.ts';
import type { RequiredCredential, Requirement } from './protected-upstream.ts';

export interface HeldCredential {
  readonly credential: RequiredCredential;
  readonly secret: Secret;
}

/** The rung of the delivery ladder: how the question reaches this client. */
export type Rung = 'input-required' | 'url-error' | 'url-request' | 'text' | 'refuse';

/** What the rung depends on. */
export interface Reach {
  readonly era: Era;
  /** The client declared URL elicitation, or the file says so. */
  readonly takesUrls: boolean;
  /** A legacy call may be held, and its client reads a stream. */
  readonly mayHold: boolean;
  readonly fallback: 'text' | 'refuse';
}

export type Decision =
  | { readonly kind: 'pass' }
  | { readonly kind: 'inject'; readonly held: readonly HeldCredential[] }
  | { readonly kind: 'elicit'; readonly missing: readonly Requirement[]; readonly rung: Rung };

/**
 * @param required what rules ask for
 * @param held what goes along: what the person has of it, and with `attach: always` of everything
 */
export function decide(required: readonly Requirement[], held: readonly HeldCredential[], reach: Reach): Decision {
  const missing = required.filter(({ anyOf, scopes = [] }) => !held.some(({ credential, secret }) => anyOf.includes(credential) && hasScopes(secret, scopes)));
  if (missing.length > 0) return { kind: 'elicit', missing: withoutImplied(missing), rung: rungOf(reach) };
  return held.length > 0 ? { kind: 'inject', held } : { kind: 'pass' };
}

function rungOf({ era, takesUrls, mayHold, fallback }: Reach): Rung {
  if (!takesUrls) return fallback;
  if (era === 'modern') return 'input-required';
  return mayHold ? 'url-request' : 'url-error';
}

/** A choice is no question of its own where one of its credentials is asked for anyway. */
function withoutImplied(missing: readonly Requirement[]): readonly Requirement[] {
  return missing.filter(({ anyOf }) => !missing.some((other) => other.anyOf.length < anyOf.length && other.anyOf.every((credential) => anyOf.includes(credential))));
}

/** Of a choice only one goes along: one that goes along anyway, or else the first in the order of the file. */
export function choose(required: readonly Requirement[], found: readonly HeldCredential[]): readonly HeldCredential[] {
  const chosen = new Set<HeldCredential>();
  // What leaves no choice comes first.
  for (const { anyOf } of [...required].sort((a, b) => a.anyOf.length - b.anyOf.length)) {
    const there = anyOf.flatMap((credential) => found.find((one) => one.credential === credential) ?? []);
    const [first] = there;
    if (first !== undefined && !there.some((one) => chosen.has(one))) chosen.add(first);
  }
  return found.filter((one) => chosen.has(one));
}
