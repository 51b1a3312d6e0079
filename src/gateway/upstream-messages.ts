/** The upstream's messages, read where an answer must be understood; what is no JSON object is none. */
import { createParser } from 'eventsource-parser';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';

export function messageIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param events a run of whole server-sent events */
export function messagesIn(events: Buffer): readonly JsonObject[] {
  const found: JsonObject[] = [];
  createParser({
    onEvent(event) {
      const message = messageIn(event.data);
      if (message !== undefined) found.push(message);
    },
  }).feed(events.toString());
  return found;
}

export function isResponse(message: JsonObject): boolean {
  return 'result' in message || 'error' in message;
}
