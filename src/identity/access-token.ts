/**
 * Callers by access token (RFC 6750, RFC 9068): signature, issuer, audience, times, type and scopes, or the
 * issuer's own word (RFC 7662). A token that was found good is kept until it expires, so that a call with
 * it costs one look-up. What is not a token of a person for this very resource is refused with the
 * challenge that lets a client get a better one.
 */
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../errors.ts';
import type { Log } from '../operate/log.ts';
import type { Clock } from '../stores/store.ts';
import type { CallerFault, IdentifyCaller } from './caller.ts';
import { audiencesOf, principalFrom, scopesOf, type Claims } from './claims.ts';
import { createIntrospection, introspectedMs } from './introspection.ts';
import type { Issuer } from './issuer.ts';
import type { Principal } from './principal.ts';
import { claimsForLog, verifySigned, type TokenFault } from './signed-token.ts';

export interface TokenSettings {
  readonly subjectClaim: string;
  readonly requiredScopes: readonly string[];
  /** The scopes to ask for, as clients must write them. */
  readonly advertisedScopes: readonly string[];
  /** Ask the issuer about each token (RFC 7662) instead of reading it. */
  readonly isIntrospected: boolean;
}

const keptTokens = 20_000;
const tokenTypes: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt']);

interface Checked {
  readonly principal: Principal;
  readonly audiences: readonly string[];
  readonly scopes: ReadonlySet<string>;
}

export function createTokenIdentity(settings: TokenSettings, issuer: Issuer, log: Log, now: Clock): IdentifyCaller {
  const good = new LRUCache<string, Checked>({ max: keptTokens, ttlResolution: 0, perf: { now } });
  const read: (token: string, address: string) => Promise<Result<Claims, TokenFault>> = settings.isIntrospected ? createIntrospection(issuer, now) : (token) => verify(issuer, token, now);
  const scope = settings.advertisedScopes.join(' ');
  const challenge = scope === '' ? {} : { scope };
  const invalidToken: CallerFault = { reason: 'unauthorized', challenge: { error: 'invalid_token', ...challenge } };
  const insufficientScope: CallerFault = { reason: 'insufficient-scope', challenge: { error: 'insufficient_scope', ...challenge } };

  let isClientless = false;

  /** A token that does not say which client has it leaves nothing to ask a person about. */
  function warnOfClientless({ clientId }: Principal): void {
    if (clientId !== undefined || isClientless) return;
    isClientless = true;
    log.warn({ issuer: issuer.issuer }, 'access tokens do not name their client (client_id, azp, appid or cid), so nobody is asked before another client uses what she gave');
  }
  function refused(token: string, accepted: readonly string[], reason: string): void {
    log.info({ reason, expectedIssuer: issuer.issuer, expectedAudience: accepted, ...claimsForLog(token) }, 'an access token was refused');
  }
  async function check(token: string, accepted: readonly string[], address: string): Promise<Result<Principal, CallerFault>> {
    const claims = await read(token, address);
    if (!claims.ok) {
      refused(token, accepted, claims.error.why);
      return err(claims.error.fault === 'invalid' ? invalidToken : { reason: 'identity-unavailable' });
    }
    const principal = principalFrom(claims.value, issuer.issuer, settings.subjectClaim);
    if (!principal.ok) {
      refused(token, accepted, principal.error === 'no-person' ? 'a client’s own token' : `without the claim ${settings.subjectClaim}`);
      return err(invalidToken);
    }
    warnOfClientless(principal.value);
    const checked = { principal: principal.value, audiences: audiencesOf(claims.value), scopes: scopesOf(claims.value) };
    good.set(token, checked, { ttl: Math.max(1, keepMs(principal.value)) });
    return judge(token, checked, accepted);
  }
  function keepMs({ expiresAt = Infinity }: Principal): number {
    return Math.min(expiresAt - now(), settings.isIntrospected ? introspectedMs : Infinity);
  }
  function judge(token: string, { principal, audiences, scopes }: Checked, accepted: readonly string[]): Result<Principal, CallerFault> {
    if (!audiences.some((audience) => accepted.includes(audience))) {
      refused(token, accepted, 'for another audience');
      return err(invalidToken);
    }
    return settings.requiredScopes.every((one) => scopes.has(one)) ? ok(principal) : err(insufficientScope);
  }

  return (request, accepted) => {
    const token = bearerToken(request.raw);
    if (token === undefined) return err({ reason: 'unauthorized', challenge });
    const known = good.get(token);
    return known === undefined ? check(token, accepted, request.ip) : judge(token, known, accepted);
  };
}

/** From the header only (RFC 6750 §2.1); a token in the address is nobody's. */
function bearerToken(request: IncomingMessage): string | undefined {
  const given = request.headersDistinct['authorization'];
  return given?.length === 1 ? /^Bearer +([\w.~+/-]+=*)$/i.exec(given[0] ?? '')?.[1] : undefined;
}

async function verify(issuer: Issuer, token: string, now: Clock): Promise<Result<Claims, TokenFault>> {
  const signed = await verifySigned(token, issuer, now);
  if (!signed.ok) return signed;
  const { claims, header } = signed.value;
  // An id token says the same of the person, but it is a client's to read and not made for calling.
  const isIdToken = claims['nonce'] !== undefined || claims['at_hash'] !== undefined;
  const isAccessToken = (header.typ === undefined || tokenTypes.has(header.typ.toLowerCase())) && !isIdToken;
  return isAccessToken ? ok(claims) : err({ fault: 'invalid', why: 'not an access token' });
}
