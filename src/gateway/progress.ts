/**
 * Progress that nobody waits for does not reach the client: with a token that it did not give, or after the
 * result (MCP 2025-11-25, basic/utilities/progress). Some clients end on it.
 */
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { EventSplitter } from '../protocol/sse.ts';
import type { Sink } from './sinks.ts';
import { isResponse, messagesIn } from './upstream-messages.ts';

/** A longer event is no progress, and is not held up. */
const longestLook = 64 * 1024;
const method = 'notifications/progress';
const oneEvent = /[^]*?(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))|[^]+$/g;

/**
 * @param events a run of whole events, of which the first may be cut
 * @param isAwaited whether progress with this token is waited for
 */
export function withoutStrayProgress(events: Buffer, isAwaited: (token: unknown) => boolean): Buffer {
  if (!events.includes(method)) return events;
  const text = events.toString('latin1');
  return Buffer.from(text.replace(oneEvent, (event) => (isStray(event, isAwaited) ? idOf(event) : event)), 'latin1');
}

/** The events of one call's answer. @param isAwaited as above, until the result has come */
export function dropStrayProgress(isAwaited: (token: unknown) => boolean, next: Sink): Sink {
  const splitter = new EventSplitter();
  let isAnswered = false;
  function look(events: Buffer): Buffer {
    const isAnswer = !isAnswered && (events.includes('"result"') || events.includes('"error"')) && events.length <= longestLook && messagesIn(events).some(isResponse);
    if (!isAnswer) return withoutStrayProgress(events, (token) => !isAnswered && isAwaited(token));
    isAnswered = true;
    // One run with the result in it: what comes before it is waited for, what comes after is not.
    return events.includes(method) ? upToResult(events, isAwaited) : events;
  }
  return {
    data(chunk) {
      const events = splitter.push(chunk);
      const isRoomLeft = events === undefined || next.data(look(events));
      return splitter.pendingBytes > longestLook ? next.data(splitter.rest()) : isRoomLeft;
    },
    end() {
      const rest = splitter.rest();
      if (rest.length > 0) next.data(rest);
      next.end();
    },
    // Of an event that was not finished nothing has left, so there is room for one of ours.
    fail: (reason) => { next.fail(reason); },
  };
}

function upToResult(events: Buffer, isAwaited: (token: unknown) => boolean): Buffer {
  let isPast = false;
  const kept = events.toString('latin1').replace(oneEvent, (event) => {
    if (isStray(event, (token) => !isPast && isAwaited(token))) return idOf(event);
    isPast ||= messagesIn(Buffer.from(event, 'latin1')).some(isResponse);
    return event;
  });
  return Buffer.from(kept, 'latin1');
}

function isStray(event: string, isAwaited: (token: unknown) => boolean): boolean {
  if (!event.includes(method)) return false;
  const messages = messagesIn(Buffer.from(event, 'latin1'));
  return messages.length > 0 && messages.every((message) => message['method'] === method && !isAwaited(tokenOf(message)));
}

function tokenOf({ params }: JsonObject): unknown {
  return isObject(params) ? params['progressToken'] : undefined;
}

/** What of a dropped event moves the client's place in the stream. */
function idOf(event: string): string {
  const id = /^id(?::.*)?$/m.exec(event)?.[0];
  return id === undefined ? '' : `${id.trimEnd()}\n\n`;
}
