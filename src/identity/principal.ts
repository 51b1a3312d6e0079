/** Words of the identity station. A principal only ever comes from a checked token, a signed assertion, a trusted proxy or the local file. */

/** The verified caller. The same person has the same (issuer, subject) everywhere: that pair, and nothing that a client says, finds her records. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** The OAuth client through which she calls; absent where the identity knows none. */
  readonly clientId?: string;
  /** What to call her on pages. */
  readonly name: string;
  /** When the token that named her is no longer taken, in milliseconds since the epoch; absent where nothing expires. */
  readonly expiresAt?: number;
  /** What her token says of her, for conditions of rules. */
  readonly claims?: Claims;
}

export type Claims = Readonly<Record<string, unknown>>;

const keys = new WeakMap<Principal, string>();

/** One text for each person, for keys of maps in memory; made once for each principal that was checked. */
export function personKey(principal: Principal): string {
  const known = keys.get(principal);
  if (known !== undefined) return known;
  const key = JSON.stringify([principal.issuer, principal.subject]);
  keys.set(principal, key);
  return key;
}

/** Two principals are one person. */
export function isSamePerson(a: Principal, b: Principal): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}
