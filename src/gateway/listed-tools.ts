/** What a client gets to see of a list of tools: not the arguments that its owner's credentials fill in. */
import type { Call } from './call.ts';
import type { LiveScrubber } from './sinks.ts';

/** For an answer that lists tools: what takes hidden arguments out of it, and scrubs it. `undefined` for every other answer. */
export function hidingArguments({ message, upstream: { hidden }, scrubber }: Call): LiveScrubber | undefined {
  if (hidden === undefined || message.kind !== 'request' || message.method !== 'tools/list') return undefined;
  return {
    isEmpty: false,
    json: (bytes) => scrubbed(hidden.json(bytes), 'json'),
    events: (bytes) => scrubbed(hidden.events(bytes), 'events'),
  };
  function scrubbed(bytes: Buffer, kind: 'json' | 'events'): Buffer {
    return scrubber === undefined ? bytes : scrubber[kind](bytes);
  }
}
