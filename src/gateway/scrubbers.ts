/**
 * One scrubber for each person and upstream, holding every value that was ever sent for her there, also
 * those that she has replaced since. Kept for the people seen last.
 */
import { LRUCache } from 'lru-cache';
import type { Principal } from '../identity/principal.ts';
import type { Secret } from '../vault/secrets.ts';
import type { HeldCredential } from './decide.ts';
import { sensitiveValues } from './inject.ts';
import { createScrubber, type Scrubber } from './scrub.ts';

export interface Scrubbers {
  /** Adds what is about to be sent, and answers with the scrubber for all that was. */
  remember(principal: Principal, upstream: string, held: readonly HeldCredential[]): Scrubber | undefined;
  /** Whether anything was remembered for her there, be it that she has nothing. */
  knows(principal: Principal, upstream: string): boolean;
  /** The scrubber for what was sent so far. */
  current(principal: Principal, upstream: string): Scrubber | undefined;
}

interface Remembered {
  readonly values: Set<string>;
  readonly secrets: WeakSet<Secret>;
  scrubber: Scrubber | undefined;
}

const people = 10_000;

export function createScrubbers(): Scrubbers {
  const byPerson = new LRUCache<string, Remembered>({ max: people });
  const keyOf = (principal: Principal, upstream: string): string => JSON.stringify([principal.issuer, principal.subject, upstream]);
  return {
    remember(principal, upstream, held) {
      const key = keyOf(principal, upstream);
      const known = byPerson.get(key) ?? { values: new Set<string>(), secrets: new WeakSet<Secret>(), scrubber: undefined };
      byPerson.set(key, known);
      for (const one of held) {
        if (known.secrets.has(one.secret)) continue;
        known.secrets.add(one.secret);
        for (const value of sensitiveValues(one)) known.values.add(value);
        known.scrubber = createScrubber(known.values);
      }
      return known.scrubber;
    },
    knows: (principal, upstream) => byPerson.has(keyOf(principal, upstream)),
    current(principal, upstream) {
      return byPerson.get(keyOf(principal, upstream))?.scrubber;
    },
  };
}
