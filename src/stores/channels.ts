/** Publish and subscribe inside one process, for stores that no other process shares. */
export interface Channels {
  publish(channel: string): void;
  subscribe(channel: string, listener: () => void): () => void;
}

export function createChannels(): Channels {
  const listeners = new Map<string, Set<() => void>>();
  return {
    publish(channel) {
      for (const listener of [...(listeners.get(channel) ?? [])]) listener();
    },
    subscribe(channel, listener) {
      const known = listeners.get(channel) ?? new Set();
      listeners.set(channel, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(channel) === known) listeners.delete(channel);
      };
    },
  };
}
