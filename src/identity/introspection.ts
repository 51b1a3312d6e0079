/**
 * The issuer's own word on a token (RFC 7662), asked sparingly: once for calls that come together, not again
 * for half a minute about a token that was refused, and, about tokens that were never good, at most 60 times
 * a minute for one address and 600 times in all. So nobody floods the issuer through here with tokens that
 * were made up; a token that was good is asked about whatever others do.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { tokenIntrospection } from 'openid-client';
import { err, ok, type Result } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import type { Claims } from './claims.ts';
import type { Issuer } from './issuer.ts';
import type { TokenFault } from './signed-token.ts';

/** How long an answer may be kept (the issuer may revoke a token at any time). */
export const introspectedMs = 60_000;

const refusedMs = 30_000;
const rememberedMs = 3_600_000;
const remembered = 20_000;
const windowMs = 60_000;
const perAddress = 60;
const inAll = 600;

type Asked = Result<Claims, TokenFault>;

/** @returns asks about a token that came from an address */
export function createIntrospection(issuer: Issuer, now: Clock): (token: string, address: string) => Promise<Asked> {
  const kept = { max: remembered, ttlResolution: 0, perf: { now } };
  // By digest: what was refused may be somebody's password.
  const refused = new LRUCache<string, TokenFault>({ ...kept, ttl: refusedMs });
  const wasGood = new LRUCache<string, true>({ ...kept, ttl: rememberedMs });
  const underWay = new Map<string, Promise<Asked>>();
  const budget = createBudget(now);

  async function ask(token: string, id: string, address: string): Promise<Asked> {
    const isNew = !wasGood.has(id);
    if (isNew && !budget.spend(address)) return err({ fault: 'unavailable', why: 'too many unknown tokens in a minute; the issuer was not asked' });
    const asked = await introspect(issuer, token);
    if (asked.ok) {
      wasGood.set(id, true);
      if (isNew) budget.giveBack(address);
    } else if (asked.error.fault === 'invalid') {
      wasGood.delete(id);
      refused.set(id, asked.error);
    }
    return asked;
  }

  return (token, address) => {
    const id = createHash('sha256').update(token).digest('base64');
    const fault = refused.get(id);
    if (fault !== undefined) return Promise.resolve(err(fault));
    const asking = underWay.get(id) ?? ask(token, id, address).finally(() => underWay.delete(id));
    underWay.set(id, asking);
    return asking;
  };
}

/** Questions that may still turn out to be in vain, within a window of a minute. */
function createBudget(now: Clock) {
  const spent = new LRUCache<string, number>({ max: remembered });
  let total = 0;
  let since = now();

  function spend(address: string): boolean {
    if (now() - since >= windowMs) {
      spent.clear();
      total = 0;
      since = now();
    }
    const own = spent.get(address) ?? 0;
    if (own >= perAddress || total >= inAll) return false;
    spent.set(address, own + 1);
    total += 1;
    return true;
  }
  function giveBack(address: string): void {
    const own = spent.get(address) ?? 0;
    if (own === 0) return;
    spent.set(address, own - 1);
    total -= 1;
  }
  return { spend, giveBack };
}

async function introspect(issuer: Issuer, token: string): Promise<Asked> {
  try {
    const answer = await tokenIntrospection(await issuer.configuration(), token);
    if (!answer.active) return err({ fault: 'invalid', why: 'not active' });
    if (answer.iss !== undefined && answer.iss !== issuer.issuer) return err({ fault: 'invalid', why: 'of another issuer' });
    return ok(answer as Claims);
  } catch {
    return err({ fault: 'unavailable', why: 'the issuer cannot be asked' });
  }
}
