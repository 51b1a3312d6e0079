/** One timer for all open streams: ten thousand idle streams cost one tick, not ten thousand timers. */
export interface Heartbeat {
  /** Calls `beat` about every second until the answer is called. */
  add(beat: () => void): () => void;
  close(): void;
}

const tickMs = 1_000;

export function createHeartbeat(): Heartbeat {
  const beats = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  return {
    add(beat) {
      beats.add(beat);
      timer ??= setInterval(() => {
        for (const each of beats) each();
      }, tickMs).unref();
      return () => beats.delete(beat);
    },
    close() {
      clearInterval(timer);
      beats.clear();
    },
  };
}
