/**
 * Callers and visitors by a signed assertion that an access proxy puts into a header of every request
 * (such as Cloudflare Access or Google IAP): checked like an access token, against the proxy's own issuer
 * and audience.
 */
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from 'node:http';
import { err, ok, type Result } from '../errors.ts';
import type { Log } from '../operate/log.ts';
import type { Clock } from '../stores/store.ts';
import type { CallerFault } from './caller.ts';
import { principalFrom } from './claims.ts';
import type { Issuer } from './issuer.ts';
import type { Principal } from './principal.ts';
import { claimsForLog, verifySigned } from './signed-token.ts';

export interface AssertionSettings {
  readonly header: string;
  /** What stands before the assertion, such as `Bearer`; empty for nothing. */
  readonly scheme: string;
  readonly audience: readonly string[];
  readonly subjectClaim: string;
}

const keptAssertions = 20_000;

export function createAssertionIdentity(settings: AssertionSettings, issuer: Issuer, log: Log, now: Clock) {
  const good = new LRUCache<string, Principal>({ max: keptAssertions, ttlResolution: 0, perf: { now } });
  const header = settings.header.toLowerCase();
  const prefix = settings.scheme === '' ? '' : `${settings.scheme.toLowerCase()} `;

  async function check(assertion: string): Promise<Result<Principal, CallerFault>> {
    const signed = await verifySigned(assertion, issuer, now, settings.audience);
    if (!signed.ok) {
      refused(assertion, signed.error.why);
      return err({ reason: signed.error.fault === 'invalid' ? 'unauthorized' : 'identity-unavailable' });
    }
    const principal = principalFrom(signed.value.claims, issuer.issuer, settings.subjectClaim);
    if (!principal.ok) {
      refused(assertion, principal.error);
      return err({ reason: 'unauthorized' });
    }
    good.set(assertion, principal.value, { ttl: Math.max(1, (principal.value.expiresAt ?? 0) - now()) });
    return principal;
  }
  function refused(assertion: string, reason: string): void {
    log.info({ reason, expectedIssuer: issuer.issuer, expectedAudience: settings.audience, ...claimsForLog(assertion) }, 'an assertion was refused');
  }

  return (request: IncomingMessage): Result<Principal, CallerFault> | Promise<Result<Principal, CallerFault>> => {
    const given = request.headersDistinct[header];
    const value = given?.length === 1 ? given[0] : undefined;
    if (value === undefined || !value.toLowerCase().startsWith(prefix)) return err({ reason: 'unauthorized' });
    const assertion = value.slice(prefix.length).trim();
    const known = good.get(assertion);
    return known === undefined ? check(assertion) : ok(known);
  };
}
