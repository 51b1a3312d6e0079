/**
 * Where the bytes of an upstream answer go. Each sink takes decoded bytes and says whether there is room
 * for more. `fail` ends the client's answer as well as it still can: an error it can read, an error as the
 * last event, or a cut connection.
 */
import type { ServerResponse } from 'node:http';
import { refusals, type Reason } from '../errors.ts';
import { errorResponse } from '../protocol/json-rpc.ts';
import { EventSplitter, messageEvent } from '../protocol/sse.ts';
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

/** JSON that nobody must look into. @param length `content-length`, where the upstream gave one for these very bytes */
export function passJson(reply: ServerResponse, status: number, contentType: string, length: number | undefined): Sink {
  const headers = { 'content-type': contentType, ...(length === undefined ? {} : { 'content-length': length }) };
  let sent = 0;
  return {
    data(chunk) {
      if (sent === 0) reply.writeHead(status, headers);
      sent += chunk.length;
      // Header and body of an answer that came in one piece leave in one piece.
      if (sent === length) {
        reply.end(chunk);
        return true;
      }
      return reply.write(chunk);
    },
    end() {
      if (sent === 0) reply.writeHead(status, headers);
      if (!reply.writableEnded) reply.end();
    },
    fail() {
      reply.destroy();
    },
  };
}

/** Holds a whole body and hands it over at the end; what is too large fails. */
export function collect(limit: number, done: (body: Buffer) => void, failed: (reason: Reason) => void): Sink {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    data(chunk) {
      length += chunk.length;
      if (length > limit) throw new OversizedAnswer();
      chunks.push(chunk);
      return true;
    },
    end() {
      const [only] = chunks;
      done(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks));
    },
    fail: failed,
  };
}

/** A message of the upstream is larger than what is looked into. */
export class OversizedAnswer extends Error {
  override readonly name = 'OversizedAnswer';
}

/** An event stream; with a scrubber each whole event is looked into first. @param idText the request that the stream answers */
export function streamEvents(stream: ClientStream, scrubber: Scrubber | undefined, idText: string): Sink {
  const splitter = scrubber === undefined ? undefined : new EventSplitter();
  return {
    data(chunk) {
      if (splitter === undefined || scrubber === undefined) return stream.write(chunk);
      const events = splitter.push(chunk);
      if (splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
      return events === undefined ? true : stream.write(scrubber.events(events));
    },
    end() {
      const rest = splitter?.rest();
      if (rest !== undefined && rest.length > 0 && scrubber !== undefined) stream.write(scrubber.events(rest));
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
