/**
 * Renewing what a third party granted: lock, reload, look again whether it is still needed, ask the third
 * party once, compare and set. However many calls need it at once, in however many processes, one of them
 * asks; the others wait and use what it stored. Nothing is renewed without the lock, because with rotating
 * refresh tokens the second use of one ends the whole grant (RFC 9700 §4.14.2). Only the third party's own
 * word that the grant is over ends it; whatever else goes wrong leaves what is stored as it is.
 */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { err, ok, UnavailableError, type Result } from '../errors.ts';
import type { Clock, Store } from '../stores/store.ts';
import { slotKey, type Secret, type SecretSlot, type Vault } from './secrets.ts';

/** `over`: the third party says that the grant has ended (`invalid_grant`). `failed`: anything else, now. */
export type RenewalFault = 'over' | 'failed';

/**
 * Asks the third party, once.
 * @param mayAsk false: finding it took so long that the lock may end before it answers, so it must not be asked
 * @returns fields and grant as they are from now on
 */
export type Renew = (secret: Secret, mayAsk: () => boolean) => Promise<Result<Pick<Secret, 'fields' | 'grant'>, RenewalFault>>;

export interface Renewal {
  readonly slot: SecretSlot;
  /** What the caller found; when something else stands there by now, that is the answer. */
  readonly seen: Secret;
  readonly renew: Renew;
  /** The third party has ended the grant. */
  readonly ended: () => void;
}

/** `ended`: the person must connect again. `unavailable`: it cannot be renewed now. */
export type RefreshFault = 'ended' | 'unavailable';

export interface Refresher {
  refresh(renewal: Renewal): Promise<Result<Secret, RefreshFault>>;
}

const lockMs = 20_000;
/** Longer than the outbound client takes for one request. */
const askingMs = 12_000;
const longestWaitMs = 25_000;
const pauseMs = 50;
/** After a failure nobody asks again for this long. */
const coolDownMs = 3_000;

export function createRefresher(store: Store, vault: Vault, now: Clock): Refresher {
  const underway = new Map<string, Promise<Result<Secret, RefreshFault>>>();
  const failedAt = new LRUCache<string, number>({ max: 10_000 });

  async function withLock(key: string, renewal: Renewal): Promise<Result<Secret, RefreshFault>> {
    const until = performance.now() + longestWaitMs;
    for (;;) {
      const lockedAt = now();
      const unlock = await store.lock(`refresh/${key}`, lockMs);
      const stored = await vault.inspect(renewal.slot);
      const isSettled = stored === undefined || !isSame(stored, renewal.seen);
      if (unlock === undefined && !isSettled && performance.now() < until) {
        await setTimeout(pauseMs);
        continue;
      }
      try {
        if (stored === undefined || stored.isRejected === true) return err('ended');
        if (isSettled) return ok(stored);
        return unlock === undefined ? err('unavailable') : await renewLocked(renewal, stored, () => now() - lockedAt < lockMs - askingMs);
      } finally {
        // A lock that cannot be given back ends by itself.
        await unlock?.().catch(() => undefined);
      }
    }
  }
  async function renewLocked({ slot, renew, ended }: Renewal, stored: Secret, mayAsk: () => boolean): Promise<Result<Secret, RefreshFault>> {
    const renewed = await renew(stored, mayAsk);
    if (renewed.ok) {
      const next = (current: Secret): Secret | undefined => (isSame(current, stored) ? { ...current, ...renewed.value } : undefined);
      // Replaced by the person meanwhile: what she gave stands.
      const kept = (await patiently(() => vault.change(slot, next))) ?? (await vault.inspect(slot));
      return kept === undefined || kept.isRejected === true ? err('ended') : ok(kept);
    }
    if (renewed.error === 'failed') return err('unavailable');
    const marked = await vault.change(slot, (current) => (isSame(current, stored) ? { ...current, isRejected: true } : undefined));
    if (marked !== undefined) ended();
    return err('ended');
  }
  async function run(key: string, renewal: Renewal): Promise<Result<Secret, RefreshFault>> {
    const outcome = await withLock(key, renewal);
    if (!outcome.ok && outcome.error === 'unavailable') failedAt.set(key, now());
    else failedAt.delete(key);
    return outcome;
  }

  return {
    async refresh(renewal) {
      // Names nobody in the store.
      const key = createHash('sha256').update(slotKey(renewal.slot)).digest('base64url');
      const known = underway.get(key);
      if (known !== undefined) return known;
      const last = failedAt.get(key);
      if (last !== undefined && now() - last < coolDownMs) return err('unavailable');
      failedAt.delete(key);
      const fresh = run(key, renewal).finally(() => underway.delete(key));
      underway.set(key, fresh);
      return fresh;
    },
  };
}

/** A rotated token that is not written down is lost, so a store that fails is asked a few times. */
async function patiently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UnavailableError) || attempt === writeAttempts) throw error;
    }
    await setTimeout(pauseMs * attempt);
  }
}

const writeAttempts = 4;

/** The same tokens: not renewed and not replaced since. */
function isSame(a: Secret, b: Secret): boolean {
  return a.storedAt === b.storedAt && a.fields['access_token'] === b.fields['access_token'] && a.grant?.endsAt === b.grant?.endsAt;
}
