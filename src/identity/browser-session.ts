/**
 * Browser sessions: after a login, a random cookie that names a sealed record. It ends after half an hour
 * without a visit and after eight hours in any case. The store holds only a digest of the cookie.
 */
import type { Clock, Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';
import type { Principal } from './principal.ts';

export interface BrowserSessions {
  /** @returns the cookie's value, new at each login */
  begin(principal: Principal): Promise<string>;
  /** Throws UnavailableError when the store cannot look. */
  find(cookie: string): Promise<Principal | undefined>;
  end(cookie: string): Promise<void>;
}

interface BrowserSession {
  readonly principal: Principal;
  readonly begunAt: number;
  readonly seenAt: number;
}

const idleMs = 30 * 60_000;
const absoluteMs = 8 * 3_600_000;
const noteEveryMs = 60_000;

export function createBrowserSessions(store: Store, ring: KeyRing, namespace: string, now: Clock): BrowserSessions {
  const records = createRecords<BrowserSession>(store, ring, namespace, 'browser-session');
  const recordId = (cookie: string) => ({ owner: ['cookie'], item: [cookie] });
  const lifeMs = (session: BrowserSession): number => Math.min(session.seenAt + idleMs, session.begunAt + absoluteMs) - now();
  return {
    async begin(principal) {
      const cookie = randomId();
      const session = { principal, begunAt: now(), seenAt: now() };
      await records.put(recordId(cookie), session, lifeMs(session));
      return cookie;
    },
    async find(cookie) {
      const held = await records.get(recordId(cookie));
      if (held === undefined || lifeMs(held.value) <= 0) return undefined;
      const seen = { ...held.value, seenAt: now() };
      // Of two visits at once one notes the time; a session that was ended meanwhile stays ended.
      if (now() - held.value.seenAt >= noteEveryMs) await records.replace(held, seen, lifeMs(seen));
      return held.value.principal;
    },
    async end(cookie) {
      await records.delete(recordId(cookie));
    },
  };
}
