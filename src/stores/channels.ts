/** Publish and subscribe inside one process; stores that several processes share carry what is published between them. */
import type { Listener } from './store.ts';

export interface Channels {
  publish(channel: string, message: string): void;
  subscribe(channel: string, listener: Listener): () => void;
  /** Messages of other processes may have been missed: every subscriber is told once. */
  missed(): void;
}

export function createChannels(): Channels {
  const listeners = new Map<string, Set<Listener>>();
  const tell = (channel: string, message: string | undefined): void => {
    for (const listener of [...(listeners.get(channel) ?? [])]) listener(message);
  };
  return {
    publish: tell,
    subscribe(channel, listener) {
      const known = listeners.get(channel) ?? new Set();
      listeners.set(channel, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(channel) === known) listeners.delete(channel);
      };
    },
    missed() {
      for (const channel of [...listeners.keys()]) tell(channel, undefined);
    },
  };
}
