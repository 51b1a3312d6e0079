/** A client's message as these upstreams need it: on one line, with the texts that must come back as they were written. */
import { deleteMember, memberText, setMember, type MemberPath } from '../protocol/json-edit.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';

export interface ClientMessage {
  /** On one line. */
  readonly text: string;
  readonly method: string | undefined;
  /** The id as it was written; absent for a notification. */
  readonly idText: string | undefined;
  readonly params: JsonObject;
}

/** @param body one JSON-RPC message that the gateway has accepted */
export function readClientMessage(body: Buffer): ClientMessage | undefined {
  const text = onOneLine(body.toString('utf8'));
  const value = parse(text);
  if (value === undefined) return undefined;
  const { method, params } = value;
  return { text, method: typeof method === 'string' ? method : undefined, idText: memberText(text, ['id']), params: isObject(params) ? params : {} };
}

/** A line break of JSON text stands between its parts, never within a string. */
export function onOneLine(json: string): string {
  return json.replace(/[\r\n]/g, ' ');
}

export function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The message with one member replaced by this JSON text; as it was where that cannot be. */
export function withMember(text: string, path: MemberPath, value: string | undefined): string {
  if (value === undefined) return deleteMember(text, path);
  const changed = setMember(text, path, value);
  return changed.ok ? changed.value : text;
}
