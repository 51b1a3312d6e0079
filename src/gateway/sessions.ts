/**
 * Sessions of the legacy era. A client's session id is a sealed token for one person, one client and one
 * upstream; with anybody else's access it is as unknown as one that was never given. An ended session
 * leaves a tombstone until its token would have expired: in memory, and in the store, where this process
 * looks once for each session, and again when another process ended one.
 */
import { LRUCache } from 'lru-cache';
import { isSamePerson, type Principal } from '../identity/principal.ts';
import type { SessionFacts } from '../protocol/session-token.ts';
import type { Clock, Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';

export interface Sessions {
  /** @returns the token that the client gets as `Mcp-Session-Id` */
  issue(principal: Principal, upstream: string, facts: Omit<SessionFacts, 'id' | 'expiresAt'>): string;
  /** The session behind a token; `undefined` when it is unknown, foreign or expired. */
  read(token: string, principal: Principal, upstream: string): Session | undefined;
  /** Whether the session was ended anywhere. Throws UnavailableError when that cannot be known. */
  isEnded(session: Session): boolean | Promise<boolean>;
  end(session: Session): Promise<void>;
}

export interface Session extends SessionFacts {
  readonly token: string;
}

/** How long a session may be used. */
export const sessionLifeMs = 30 * 24 * 3_600_000;
const knownSessions = 20_000;
const endedChannel = 'ended-session';

/** @param ended is told of each session that any process ended */
export function createSessions(store: Store, ring: KeyRing, namespace: string, now: Clock, ended: (sessionId: string) => void = () => undefined): Sessions {
  const tombstones = createRecords<true>(store, ring, namespace, 'ended-session');
  const states = new LRUCache<string, 'live' | 'ended'>({ max: knownSessions });
  const opened = new LRUCache<string, { readonly session: Session; readonly upstream: string; readonly principal: Principal }>({ max: knownSessions });
  const identity = (principal: Principal, upstream: string): string[] => [namespace, upstream, principal.issuer, principal.subject, principal.clientId ?? ''];
  store.subscribe(endedChannel, (sessionId) => {
    // A message is no proof; the sealed record is, and it is looked for on the next request.
    if (sessionId === undefined) return forgetLive();
    if (states.get(sessionId) === 'live') states.delete(sessionId);
    ended(sessionId);
  });
  function forgetLive(): void {
    for (const [id, state] of [...states.entries()]) if (state === 'live') states.delete(id);
  }
  const recordId = (session: Session) => ({ owner: [session.id], item: [] });

  function unseal(token: string, principal: Principal, upstream: string): Session | undefined {
    const known = opened.get(token);
    if (known !== undefined) return known.upstream === upstream && isSameCaller(known.principal, principal) ? known.session : undefined;
    const sealed = Buffer.from(token, 'base64url');
    // base64url has several spellings of the same bytes; only the one that was issued is a session.
    const plaintext = sealed.toString('base64url') === token ? ring.open('session', identity(principal, upstream), sealed) : undefined;
    if (plaintext === undefined) return undefined;
    // Sealed by `issue` under this installation's keys: the tag is the check of its shape.
    const session = { ...(JSON.parse(plaintext.toString()) as SessionFacts), token };
    opened.set(token, { session, upstream, principal });
    return session;
  }
  async function lookUp(session: Session): Promise<boolean> {
    const isEnded = (await tombstones.get(recordId(session))) !== undefined;
    if (states.get(session.id) !== 'ended') states.set(session.id, isEnded ? 'ended' : 'live');
    return isEnded;
  }

  return {
    issue(principal, upstream, facts) {
      const whole: SessionFacts = { ...facts, id: randomId(), expiresAt: now() + sessionLifeMs };
      states.set(whole.id, 'live');
      return ring.seal('session', identity(principal, upstream), Buffer.from(JSON.stringify(whole))).toString('base64url');
    },
    read(token, principal, upstream) {
      const session = unseal(token, principal, upstream);
      return session === undefined || session.expiresAt <= now() ? undefined : session;
    },
    isEnded(session) {
      const state = states.get(session.id);
      return state === undefined ? lookUp(session) : state === 'ended';
    },
    async end(session) {
      states.set(session.id, 'ended');
      await tombstones.put(recordId(session), true, Math.max(1, session.expiresAt - now()));
      // The record is what counts; who is not told looks when it meets the session for the first time.
      await store.publish(endedChannel, session.id).catch(() => undefined);
    },
  };
}

/** The same person through the same client. */
function isSameCaller(a: Principal, b: Principal): boolean {
  return a === b || (isSamePerson(a, b) && a.clientId === b.clientId);
}
