/**
 * One scrubber for each person and upstream. It knows what is stored for her there and what was sent, also
 * what she has replaced since, and it stays the same object: an answer that began before a key was known
 * is scrubbed of it from then on. Kept for the people seen last.
 */
import { LRUCache } from 'lru-cache';
import { personKey, type Principal } from '../identity/principal.ts';
import type { Secret } from '../vault/secrets.ts';
import type { HeldCredential } from './decide.ts';
import { sensitiveValues } from './inject.ts';
import { createScrubber, type Scrubber } from './scrub.ts';
import type { LiveScrubber } from './sinks.ts';

export interface PersonScrubber extends LiveScrubber {
  /** What the store holds for her was read once, since this process began. */
  isLoaded: boolean;
  /** Adds what is stored or about to be sent. */
  add(held: readonly HeldCredential[]): void;
}

export interface Scrubbers {
  of(principal: Principal, upstream: string): PersonScrubber;
}

const people = 10_000;
/** Of each credential, this many of the newest secrets are still looked for. */
const newest = 8;

export function createScrubbers(): Scrubbers {
  const byPerson = new LRUCache<string, PersonScrubber>({ max: people });
  return {
    of(principal, upstream) {
      const key = `${upstream} ${personKey(principal)}`;
      const known = byPerson.get(key);
      if (known !== undefined) return known;
      const fresh = createPersonScrubber();
      byPerson.set(key, fresh);
      return fresh;
    },
  };
}

function createPersonScrubber(): PersonScrubber {
  const seen = new WeakSet<Secret>();
  const values = new Map<string, (readonly string[])[]>();
  let scrubber: Scrubber | undefined;
  return {
    isLoaded: false,
    get isEmpty() {
      return scrubber === undefined;
    },
    json: (bytes) => scrubber?.json(bytes) ?? bytes,
    events: (bytes) => scrubber?.events(bytes) ?? bytes,
    add(held) {
      let isNew = false;
      for (const one of held) {
        if (seen.has(one.secret)) continue;
        seen.add(one.secret);
        const { name } = one.credential.config;
        const fresh = sensitiveValues(one);
        const before = (values.get(name) ?? []).filter((known) => known.join('\0') !== fresh.join('\0'));
        values.set(name, [...before, fresh].slice(-newest));
        isNew = true;
      }
      if (isNew) scrubber = createScrubber([...values.values()].flat(2));
    },
  };
}
