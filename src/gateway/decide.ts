/** What happens to a call, once it is known what it needs and what is there: a pure decision. */
import type { Secret } from '../vault/secrets.ts';
import type { RequiredCredential } from './protected-upstream.ts';

export interface HeldCredential {
  readonly credential: RequiredCredential;
  readonly secret: Secret;
}

/** The rung of the delivery ladder: how the question reaches this client. */
export type Rung = 'url-error' | 'text' | 'refuse';

export type Decision =
  | { readonly kind: 'pass' }
  | { readonly kind: 'inject'; readonly held: readonly HeldCredential[] }
  | { readonly kind: 'elicit'; readonly missing: readonly RequiredCredential[]; readonly rung: Rung };

/**
 * @param required what rules ask for
 * @param held what the person has of it, and with `attach: always` of everything
 * @param takesUrls the client declared URL elicitation, or the file says so
 */
export function decide(
  required: readonly RequiredCredential[],
  held: readonly HeldCredential[],
  takesUrls: boolean,
  fallback: 'text' | 'refuse',
): Decision {
  const missing = required.filter((credential) => !held.some((one) => one.credential === credential));
  if (missing.length > 0) return { kind: 'elicit', missing, rung: takesUrls ? 'url-error' : fallback };
  return held.length > 0 ? { kind: 'inject', held } : { kind: 'pass' };
}
