/**
 * The conversations of one upstream that are open: each under a key, for the sessions that use it. One that
 * nobody uses for a while ends; where there may be no more, the one that has been idle longest gives way,
 * and with none idle the newcomer alone is refused. A key whose secrets changed gets a new conversation,
 * and the old one ends after its open calls.
 */
import type { Conversation } from './conversation.ts';
import { UpstreamFailure } from './peer.ts';

export interface PoolSettings {
  readonly idleAfterMs: number;
  readonly maxOpen: number;
}

export interface Wanted {
  readonly key: string;
  /** Changes when what it was opened with changes. */
  readonly digest: string;
  /** Whose it is; absent for one that holds nothing of anybody. */
  readonly person?: string;
  readonly holdsSecrets: boolean;
  /** @param slot a small number that no other open conversation has, among those of people or among those of nobody */
  open(slot: number): Conversation;
}

interface Entry {
  readonly wanted: Wanted;
  readonly conversation: Conversation;
  readonly slot: number;
  readonly users: Set<string>;
  holdsSecrets: boolean;
  isRetired: boolean;
  isOpening: boolean;
  idleTimer: NodeJS.Timeout | undefined;
}

export interface ConversationPool {
  /**
   * @param user the session that uses it; it ends with the last one
   * @throws UpstreamFailure when there may be no more
   */
  get(wanted: Wanted, user?: string): Conversation;
  left(user: string): void;
  forget(person: string): void;
  close(): Promise<void>;
}

export function createConversationPool({ idleAfterMs, maxOpen }: PoolSettings): ConversationPool {
  const current = new Map<string, Entry>();
  /** Those that are ending, too. */
  const all = new Set<Entry>();
  let uses = 0;

  function open(wanted: Wanted): Entry {
    if (current.size + retiredOf().length >= maxOpen) makeRoom();
    const taken = new Set([...all].filter((entry) => (entry.wanted.person === undefined) === (wanted.person === undefined)).map((entry) => entry.slot));
    let slot = 0;
    while (taken.has(slot)) slot += 1;
    const conversation = wanted.open(slot);
    const entry: Entry = { wanted, conversation, slot, users: new Set(), holdsSecrets: wanted.holdsSecrets, isRetired: false, isOpening: true, idleTimer: undefined };
    all.add(entry);
    current.set(wanted.key, entry);
    conversation.onIdle = () => { rest(entry); };
    conversation.onEnded = () => {
      clearTimeout(entry.idleTimer);
      if (current.get(wanted.key) === entry) current.delete(wanted.key);
      void conversation.end().finally(() => all.delete(entry));
    };
    const opened = (): void => {
      entry.isOpening = false;
      rest(entry);
    };
    conversation.opened.then(opened, opened);
    return entry;
  }
  /** Retired, and at work still. */
  function retiredOf(): Entry[] {
    return [...all].filter((entry) => entry.isRetired && !entry.conversation.isEnded);
  }
  function makeRoom(): void {
    const idle = [...current.values()].filter((entry) => !entry.isOpening && entry.conversation.openCalls === 0);
    const first = idle.sort((a, b) => a.conversation.lastUsedAt - b.conversation.lastUsedAt)[0];
    if (first === undefined) throw new UpstreamFailure('unreachable', 'ALL_BUSY', 'Everything that may run of this server is busy right now; try again in a minute.');
    retire(first);
  }
  function rest(entry: Entry): void {
    if (entry.conversation.isEnded || entry.conversation.openCalls > 0 || entry.isOpening) return;
    if (entry.isRetired) {
      void entry.conversation.end();
      return;
    }
    clearTimeout(entry.idleTimer);
    entry.idleTimer = setTimeout(() => { retire(entry); }, idleAfterMs).unref();
  }
  function retire(entry: Entry): void {
    entry.isRetired = true;
    if (current.get(entry.wanted.key) === entry) current.delete(entry.wanted.key);
    rest(entry);
  }

  return {
    get(wanted, user) {
      const known = current.get(wanted.key);
      if (known !== undefined && known.wanted.digest !== wanted.digest) retire(known);
      const entry = known?.wanted.digest === wanted.digest ? known : open(wanted);
      clearTimeout(entry.idleTimer);
      if (wanted.holdsSecrets) entry.holdsSecrets = true;
      if (user !== undefined) entry.users.add(user);
      entry.conversation.lastUsedAt = ++uses;
      return entry.conversation;
    },
    left(user) {
      for (const entry of [...current.values()]) if (entry.users.delete(user) && entry.users.size === 0) retire(entry);
    },
    forget(person) {
      for (const entry of [...current.values()]) if (entry.wanted.person === person && entry.holdsSecrets) retire(entry);
    },
    async close() {
      await Promise.all([...all].map((entry) => entry.conversation.end()));
    },
  };
}
