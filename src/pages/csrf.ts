/** The token of a form: sealed for one person, one browser session and one page, so nobody else's form can carry it. */
import type { Visitor } from '../identity/visitor.ts';
import type { KeyRing } from '../vault/key-ring.ts';

export interface CsrfParts {
  readonly ring: KeyRing;
  readonly namespace: string;
}

/** @param page what the form belongs to: a ticket's id, or `account` */
export function csrfToken(parts: CsrfParts, visitor: Visitor, page: string): string {
  return parts.ring.seal('csrf', identity(parts, visitor, page), new Uint8Array()).toString('base64url');
}

export function isCsrfToken(parts: CsrfParts, visitor: Visitor, page: string, token: unknown): boolean {
  return typeof token === 'string' && parts.ring.open('csrf', identity(parts, visitor, page), Buffer.from(token, 'base64url')) !== undefined;
}

function identity({ namespace }: CsrfParts, { principal, session }: Visitor, page: string): string[] {
  return [namespace, principal.issuer, principal.subject, session, page];
}
