/**
 * Which upstream session is behind a client's session, and for which secrets it was opened. Many servers
 * read a key only at `initialize`; with `attach: always` the secrets belong to the session as a whole, so
 * when those that a person has change, a new upstream session takes the place of the old one. What that
 * needs (the client's own `initialize` parameters) is kept sealed in the store, written when a session
 * opens or changes, and read once for each session and process.
 */
import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../protocol/json-rpc.ts';
import type { Clock, Store } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import { createRecords, type Held } from '../vault/records.ts';
import type { HeldCredential } from './decide.ts';
import { sessionLifeMs, type Session } from './sessions.ts';

export interface Binding {
  /** Of the client's `initialize`. */
  readonly params: JsonObject;
  /** Which secrets the upstream session was opened with. */
  readonly secrets: string;
  readonly upstreamSession: string | undefined;
  readonly negotiatedVersion: string;
}

export interface Bindings {
  /** Keeps what an `initialize` said and was answered. Throws UnavailableError when it cannot be stored; it is known here all the same. */
  begin(session: Session, binding: Binding): Promise<void>;
  /** In memory; `null` when nothing was ever kept, `undefined` when that is not known here. */
  known(session: Session): Binding | null | undefined;
  /** As the store has it now. */
  read(session: Session): Promise<Binding | undefined>;
  /** Puts another in the place of the one that was read last. False: somebody else was first, read again. */
  replace(session: Session, next: Binding): Promise<boolean>;
}

const knownSessions = 20_000;
/** Of all that is known here, as JSON; the rest is read again. */
const knownCharacters = 16 * 1024 * 1024;
/** No honest client says more of itself; of one that does only this much is kept. */
const longestParams = 16 * 1024;

/** Until then what is not in the store may still come. */
const youngMs = 60_000;

export function createBindings(store: Store, ring: KeyRing, namespace: string, now: Clock): Bindings {
  const records = createRecords<Binding>(store, ring, namespace, 'session');
  const known = new LRUCache<string, { readonly binding: Binding | null; readonly held?: Held<Binding> }>({ max: knownSessions, maxSize: knownCharacters, sizeCalculation: ({ binding }) => (binding === null ? 64 : sizeOf(binding)) });
  const idOf = (session: Session) => ({ owner: [session.id], item: [] });
  const lifeMs = (session: Session): number => Math.max(1, session.expiresAt - now());

  // The process that opened a young session may still be writing its record.
  const isYoung = (session: Session): boolean => session.expiresAt - now() > sessionLifeMs - youngMs;
  // What is being written is not missing.
  const writing = new Map<string, Promise<void>>();

  async function read(session: Session): Promise<Binding | undefined> {
    await writing.get(session.id)?.catch(() => undefined);
    const held = await records.get(idOf(session));
    if (held !== undefined) known.set(session.id, { binding: held.value, held });
    else if (!known.has(session.id) && !isYoung(session)) known.set(session.id, { binding: null });
    return held?.value;
  }
  return {
    begin(session, binding) {
      known.set(session.id, { binding });
      const written = records.put(idOf(session), binding, lifeMs(session)).finally(() => writing.delete(session.id));
      writing.set(session.id, written);
      return written;
    },
    known: (session) => known.get(session.id)?.binding,
    read,
    async replace(session, next) {
      const held = known.get(session.id)?.held;
      if (held === undefined || !(await records.replace(held, next, lifeMs(session)))) return false;
      known.set(session.id, { binding: next });
      return true;
    },
  };
}

function sizeOf({ params }: Binding): number {
  return JSON.stringify(params).length + 512;
}

/** What is kept of a client's `initialize` for another one. */
export function keptParams(params: JsonObject): JsonObject {
  if (JSON.stringify(params).length <= longestParams) return params;
  const version = typeof params['protocolVersion'] === 'string' ? params['protocolVersion'].slice(0, 32) : '';
  return { protocolVersion: version, capabilities: {}, clientInfo: { name: 'client', version: '1' } };
}

/** Which secrets these are: another one of the same credential is another name. */
export function nameOfSecrets(held: readonly HeldCredential[]): string {
  return held.map(({ credential, secret }) => `${credential.config.name} ${secret.storedAt}`).sort().join('\n');
}
