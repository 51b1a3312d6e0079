/**
 * The issuer's own word on a token (RFC 7662). Whoever sends tokens that nobody issued makes the issuer
 * work, so this asks once for a token at a time, remembers for a while what was not active, and asks only
 * so much at once: for one address, and in all. What it has no room to ask is not known, and not refused.
 */
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { tokenIntrospection } from 'openid-client';
import { err, ok, type Result } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import type { Claims } from './claims.ts';
import type { Issuer } from './issuer.ts';
import type { TokenFault } from './signed-token.ts';

type Word = Result<Claims, TokenFault>;

const inactiveMs = 30_000;
const keptInactive = 50_000;
const mostAtOnce = 100;
const mostAtOncePerAddress = 20;

/** @returns asks about a token, for a caller at an address */
export function createIntrospection(issuer: Issuer, now: Clock): (token: string, address: string) => Promise<Word> {
  const inactive = new LRUCache<string, TokenFault>({ max: keptInactive, ttl: inactiveMs, ttlResolution: 0, perf: { now } });
  const asking = new Map<string, Promise<Word>>();
  const byAddress = new Map<string, number>();

  async function askNow(token: string, key: string, address: string): Promise<Word> {
    byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
    try {
      const word = await introspect(issuer, token);
      if (!word.ok && word.error.fault === 'invalid') inactive.set(key, word.error);
      return word;
    } finally {
      asking.delete(key);
      const left = (byAddress.get(address) ?? 1) - 1;
      if (left > 0) byAddress.set(address, left);
      else byAddress.delete(address);
    }
  }
  return async (token, address) => {
    const key = createHash('sha256').update(token).digest('base64');
    const known = inactive.get(key);
    if (known !== undefined) return err(known);
    const underWay = asking.get(key);
    if (underWay !== undefined) return underWay;
    if (asking.size >= mostAtOnce || (byAddress.get(address) ?? 0) >= mostAtOncePerAddress) return err({ fault: 'unavailable', why: 'too many tokens are asked about already' });
    const word = askNow(token, key, address);
    asking.set(key, word);
    return word;
  };
}

async function introspect(issuer: Issuer, token: string): Promise<Word> {
  try {
    const answer = await tokenIntrospection(await issuer.configuration(), token);
    if (!answer.active) return err({ fault: 'invalid', why: 'not active' });
    if (answer.iss !== undefined && answer.iss !== issuer.issuer) return err({ fault: 'invalid', why: 'of another issuer' });
    return ok(answer as Claims);
  } catch {
    return err({ fault: 'unavailable', why: 'the issuer cannot be asked' });
  }
}
