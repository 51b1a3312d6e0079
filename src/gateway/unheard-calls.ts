/**
 * Upstream calls that nobody waits for any more: a client that hangs up leaves its legacy call running, but
 * a person leaves only so many. One more, and her oldest is broken off.
 */
export interface UnheardCalls {
  /** @returns to be called when the call is over */
  add(owner: string, breakOff: () => void): () => void;
}

const perPerson = 100;

export function createUnheardCalls(): UnheardCalls {
  const byOwner = new Map<string, Set<() => void>>();
  return {
    add(owner, breakOff) {
      const calls = byOwner.get(owner) ?? new Set();
      byOwner.set(owner, calls.add(breakOff));
      const [oldest] = calls;
      if (calls.size > perPerson && oldest !== undefined) {
        calls.delete(oldest);
        oldest();
      }
      return () => {
        calls.delete(breakOff);
        if (calls.size === 0 && byOwner.get(owner) === calls) byOwner.delete(owner);
      };
    },
  };
}
