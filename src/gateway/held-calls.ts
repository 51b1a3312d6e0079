/** How many calls of one person wait for her at once; one more is not held. */
export interface HeldCalls {
  /** How long each waits, in milliseconds. */
  readonly forMs: number;
  /** @returns gives the place back, once; undefined when there is none left */
  take(owner: string): (() => void) | undefined;
}

export function createHeldCalls(perPerson: number, forMs: number): HeldCalls {
  const counts = new Map<string, number>();
  return {
    forMs,
    take(owner) {
      const count = counts.get(owner) ?? 0;
      if (count >= perPerson) return undefined;
      counts.set(owner, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (counts.get(owner) ?? 1) - 1;
        if (left > 0) counts.set(owner, left);
        else counts.delete(owner);
      };
    },
  };
}
