/** From checked claims to a principal: pure, and the same for access tokens, login tokens, assertions and introspection. */
import { err, ok, type Result } from '../errors.ts';
import type { Claims, Principal } from './principal.ts';

export type { Claims } from './principal.ts';

/** How far the issuer's clock may be from ours. */
export const clockToleranceSeconds = 60;

export type ClaimsFault = 'no-subject' | 'no-person';

/** RFC 9068 §2.2, OpenID Connect Core §2, and what Entra (v1 tokens) and Okta write instead. */
const clientClaims = ['client_id', 'azp', 'appid', 'cid'] as const;

/**
 * @param subjectClaim the claim that names the person at this issuer
 * @returns `no-person` for a token that a client got for itself: its subject is the client
 */
export function principalFrom(claims: Claims, issuer: string, subjectClaim: string): Result<Principal, ClaimsFault> {
  const subject = text(claims[subjectClaim]);
  if (subject === undefined) return err('no-subject');
  const clients = clientClaims.flatMap((claim) => text(claims[claim]) ?? []);
  const [clientId] = clients;
  if (clients.some((client) => subject === client || claims['sub'] === client)) return err('no-person');
  const expiresAt = typeof claims['exp'] === 'number' ? Math.floor((claims['exp'] + clockToleranceSeconds) * 1_000) : undefined;
  return ok({
    issuer,
    subject,
    claims,
    name: text(claims['name']) ?? text(claims['preferred_username']) ?? text(claims['email']) ?? subject,
    ...(clientId === undefined ? {} : { clientId }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}

/** Scopes of a token: `scope` (RFC 9068 §2.2.3), or `scp` as some issuers write it. */
export function scopesOf(claims: Claims): ReadonlySet<string> {
  const said = claims['scope'] ?? claims['scp'];
  if (typeof said === 'string') return new Set(said.split(' ').filter((scope) => scope !== ''));
  return new Set(Array.isArray(said) ? said.filter((scope) => typeof scope === 'string') : []);
}

export function audiencesOf(claims: Claims): readonly string[] {
  const { aud } = claims;
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
