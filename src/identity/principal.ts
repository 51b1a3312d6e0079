/** Words of the identity station. A principal only ever comes from a checked token, a signed assertion, a trusted proxy or the local file. */

/** The verified caller. The same person has the same (issuer, subject) everywhere: that pair, and nothing that a client says, finds her records. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** The OAuth client through which she calls; absent where the identity knows none. */
  readonly clientId?: string;
  /** What to call her on pages. */
  readonly name: string;
}

/** Two principals are one person. */
export function isSamePerson(a: Principal, b: Principal): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}
