/**
 * Where the bytes of an upstream answer go. Each sink takes decoded bytes and says whether there is room
 * for more. `fail` ends the client's answer as well as it still can: an error it can read, an error as the
 * last event, or a cut connection.
 */
import type { ServerResponse } from 'node:http';
import { refusals, type Reason } from '../errors.ts';
import { HeldBytes } from '../protocol/held-bytes.ts';
import { errorResponse } from '../protocol/json-rpc.ts';
import { EventSplitter, messageEvent } from '../protocol/sse.ts';
import { sendAnswer } from './answer.ts';
import type { ClientStream } from './client-stream.ts';
import type { Scrubber } from './scrub.ts';

export interface Sink {
  /** False: wait for the client's `drain`. */
  data(chunk: Buffer): boolean;
  end(): void;
  fail(reason: Reason): void;
}

/** What must be seen whole (a message to scrub, an error body) is held up to this many bytes. */
export const maxHeldBytes = 32 * 1024 * 1024;

/** What of an answer's head goes on to the client. */
interface WrittenHead {
  readonly status: number;
  readonly contentType: string;
  /** Where the upstream gave one for these very bytes. */
  readonly length: number | undefined;
}

/** An answer up to this size leaves whole or not at all: until then a failing upstream is an error that the client can read. */
const wholeBytes = 256 * 1024;

/** A scrubber that may learn of a secret while an answer is on its way. */
export interface LiveScrubber extends Scrubber {
  /** Nothing to look for, so far. */
  readonly isEmpty: boolean;
}

/**
 * JSON: streamed while there is nothing to look for in it, and held whole otherwise.
 * @param failed answers the client where nothing was sent yet
 */
export function passJson(reply: ServerResponse, { status, contentType, length }: WrittenHead, failed: (reason: Reason) => void, scrubber: LiveScrubber | undefined): Sink {
  const held = new HeldBytes();
  let isBegun = false;
  const mustLook = (): boolean => scrubber !== undefined && !scrubber.isEmpty;
  return {
    data(chunk) {
      if (isBegun && !mustLook()) return reply.write(chunk);
      held.push(chunk);
      if (mustLook() && held.length > maxHeldBytes) throw new OversizedAnswer();
      if (mustLook() || held.length <= wholeBytes) return true;
      isBegun = true;
      reply.writeHead(status, { 'content-type': contentType, ...(length === undefined ? {} : { 'content-length': length }) });
      return reply.write(held.take());
    },
    end() {
      const rest = held.take();
      const body = scrubber?.json(rest) ?? rest;
      if (!isBegun) sendAnswer(reply, { status, body, headers: { 'content-type': contentType } });
      // The client was told another length before the secret was known: the answer cannot be mended any more.
      else if (length !== undefined && body.length !== rest.length) reply.destroy();
      else reply.end(body);
    },
    fail(reason) {
      if (isBegun) reply.destroy();
      else failed(reason);
    },
  };
}

/** Holds a whole body and hands it over at the end; what is too large fails. */
export function collect(limit: number, done: (body: Buffer) => void, failed: (reason: Reason) => void): Sink {
  const held = new HeldBytes();
  return {
    data(chunk) {
      if (held.length + chunk.length > limit) throw new OversizedAnswer();
      held.push(chunk);
      return true;
    },
    end() {
      done(held.take());
    },
    fail: failed,
  };
}

/** A message of the upstream is larger than what is looked into. */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer';
}

/** An event stream; once there is something to look for, each whole event is looked into first. @param idText the request that the stream answers */
export function streamEvents(stream: ClientStream, scrubber: LiveScrubber | undefined, idText: string): Sink {
  const splitter = new EventSplitter();
  return {
    data(chunk) {
      if (scrubber === undefined) return stream.write(chunk);
      if (scrubber.isEmpty) {
        splitter.pass(chunk);
        return stream.write(chunk);
      }
      const events = splitter.push(chunk);
      if (splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
      return events === undefined ? true : stream.write(scrubber.events(events));
    },
    end() {
      const rest = splitter.rest();
      if (rest.length > 0 && scrubber !== undefined) stream.write(scrubber.events(rest));
      stream.end();
    },
    fail(reason) {
      // Inside an event of the upstream's there is no room for one of ours: the client sees the cut.
      if (!stream.isBetweenEvents) {
        stream.destroy();
        return;
      }
      stream.own(messageEvent(errorResponse(idText, refusals[reason])));
      stream.end();
    },
  };
}

/** Nobody waits for these bytes any more. They are read to their end, so that the upstream's call runs on; what has no end is cut. */
export function discard(limit = Infinity): Sink {
  let length = 0;
  return {
    data(chunk) {
      length += chunk.length;
      if (length > limit) throw new OversizedAnswer();
      return true;
    },
    end: () => undefined,
    fail: () => undefined,
  };
}
