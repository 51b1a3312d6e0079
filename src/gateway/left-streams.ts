/**
 * Event streams of calls whose client hung up. The call goes on and its events are read, so that it is not
 * taken for cancelled; but an upstream resumes a stream only once it has no reader (MCP 2025-11-25,
 * basic/transports, "Resumability"). A client that resumes therefore ends those readings of its session.
 */
export interface LeftStreams {
  /** @param breakOff ends the reading @returns to be called when it is over by itself */
  add(session: string, breakOff: () => void): () => void;
  /** The session's client comes back for what it has missed. */
  release(session: string): void;
}

export function createLeftStreams(): LeftStreams {
  const bySession = new Map<string, Set<() => void>>();
  return {
    add(session, breakOff) {
      const left = bySession.get(session) ?? new Set();
      bySession.set(session, left.add(breakOff));
      return () => {
        left.delete(breakOff);
        if (left.size === 0 && bySession.get(session) === left) bySession.delete(session);
      };
    },
    release(session) {
      for (const breakOff of [...(bySession.get(session) ?? [])]) breakOff();
    },
  };
}
