/**
 * Server-sent events as bytes (WHATWG HTML §9.2): where one event ends, so that comments and events of
 * ours go between two of the upstream's and never into one; and events cut whole out of chunks, for those
 * who must look inside. Bytes that need no change keep theirs.
 */
import { HeldBytes } from './held-bytes.ts';

const lf = 0x0a;
const cr = 0x0d;

/** A comment: keeps the connection alive and means nothing to the client. */
export const keepAliveComment = Buffer.from(': \n\n');

/** Own events carry no id, so they never move the client's Last-Event-ID. @param json one JSON-RPC message without line breaks */
export function messageEvent(json: string): Buffer {
  return Buffer.from(`event: message\ndata: ${json}\n\n`);
}

/** Follows the bytes of a stream and knows whether it stands between two events. */
export class EventBoundary {
  #tail = Buffer.alloc(0);
  #isBetween = true;

  get isBetween(): boolean {
    return this.#isBetween;
  }

  push(chunk: Uint8Array): void {
    this.#tail = tailAfter(this.#tail, chunk);
    this.#isBetween = endsEvent(this.#tail, this.#tail.length);
  }
}

/** As many of the last bytes as can tell whether an event has ended. */
function tailAfter(tail: Buffer, chunk: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.concat([tail, chunk.subarray(-3)]).subarray(-3);
}

/** Whether a blank line ends right before `end`: two line ends in a row, each LF, CR or CRLF. */
function endsEvent(bytes: Uint8Array, end: number): boolean {
  const last = bytes[end - 1];
  const before = bytes[end - 2];
  if (last === cr) return before === cr || before === lf;
  if (last !== lf) return false;
  if (before === lf) return true;
  const third = bytes[end - 3];
  return before === cr && (third === lf || third === cr);
}

/** Cuts a stream into whole events. */
export class EventSplitter {
  readonly #held = new HeldBytes();
  #tail = Buffer.alloc(0);

  /** Bytes of the event that is not whole yet. */
  get pendingBytes(): number {
    return this.#held.length;
  }

  /** Whole events, their closing blank line included, as one run of bytes; `undefined` when none has ended. */
  push(chunk: Buffer): Buffer | undefined {
    const cut = this.#lastBoundary(chunk);
    this.#tail = tailAfter(this.#tail, chunk);
    if (cut === 0) {
      this.#held.push(chunk);
      return undefined;
    }
    this.#held.push(chunk.subarray(0, cut));
    const whole = this.#held.take();
    if (cut < chunk.length) this.#held.push(chunk.subarray(cut));
    return whole;
  }

  /** Bytes that go on without being looked at; only where they end is remembered. */
  pass(chunk: Buffer): void {
    this.#tail = tailAfter(this.#tail, chunk);
  }

  /** What is left when the stream ends: an event that the upstream did not finish. */
  rest(): Buffer {
    return this.#held.take();
  }

  #lastBoundary(chunk: Buffer): number {
    for (let at = chunk.length; at > 0; at -= 1) {
      const last = chunk[at - 1];
      if (last !== lf && last !== cr) continue;
      if (at >= 3 ? endsEvent(chunk, at) : endsEvent(Buffer.concat([this.#tail, chunk.subarray(0, at)]), this.#tail.length + at)) return at;
    }
    return 0;
  }
}

/** Changes a run of whole events line by line: the value of `data` lines by one function, every other line by another. */
export function mapLines(events: string, change: { readonly data: (value: string) => string; readonly other: (line: string) => string }): string {
  return events.replace(/[^\r\n]+/g, (line) => {
    const field = /^\ufeff?data: ?/.exec(line)?.[0];
    return field === undefined ? change.other(line) : field + change.data(line.slice(field.length));
  });
}

/**
 * Changes the messages in a run of whole events: of each event the data, its lines joined as a reader joins
 * them. An event that does not change keeps its bytes.
 */
export function mapData(events: string, change: (data: string) => string): string {
  return events.replace(/(?:[^\r\n]+(?:\r\n|[\r\n]|$))+/g, (event) => {
    const lines = event.match(/[^\r\n]+(?:\r\n|[\r\n]|$)/g) ?? [];
    const data = lines.flatMap((line) => /^\ufeff?data: ?([^\r\n]*)/.exec(line)?.[1] ?? []).join('\n');
    const changed = change(data);
    if (changed === data) return event;
    const end = /[\r\n]*$/.exec(lines.at(-1) ?? '')?.[0] ?? '';
    const others = lines.filter((line) => !/^\ufeff?data:/.test(line));
    return [...others, ...changed.split('\n').map((line) => `data: ${line}${end}`)].join('');
  });
}
