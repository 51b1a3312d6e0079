/**
 * One JSON-RPC 2.0 message as MCP uses it, read strictly: one object, in UTF-8, with one meaning. What is
 * not understood is refused. The bytes stay beside the parsed message, because they are what is forwarded.
 */
import { isUtf8 } from 'node:buffer';
import { err, ok, type Result } from '../errors.ts';
import { isUnwieldy, scanEnvelope } from './json-scan.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: 'request';
  /** The id exactly as the client wrote it, quotes included; it is echoed as text, so 2^53 + 1 and "1" survive. */
  readonly idText: string;
  readonly method: string;
  readonly params: JsonObject;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject;
}

export interface RpcResponse {
  readonly kind: 'response';
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export type MessageFault = 'not-json' | 'invalid-request';

/** Python's and Java's usual parsers give up at about this depth. */
const deepestNesting = 1_000;
/** Of one object; beyond it reading costs more than the bytes let expect. */
const mostMembers = 10_000;

/** What rules may protect is always a request: sent without an id it might run, and nobody could be asked. */
const alwaysRequests = new Set(['tools/call', 'resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete']);

/** @param body the bytes of one POST */
export function parseMessage(body: Buffer): Result<RpcMessage, MessageFault> {
  if (!isUtf8(body)) return err('not-json');
  const text = body.toString('utf8');
  if (isUnwieldy(text, deepestNesting, mostMembers)) return err('invalid-request');
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const value = parsed.value;
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return err('invalid-request');
  const scanned = scanEnvelope(text);
  if (!scanned.isUnambiguous) return err('invalid-request');
  return classify(value, scanned.idText);
}

function classify(value: JsonObject, idText: string | undefined): Result<RpcMessage, MessageFault> {
  const { id, method, params } = value;
  if (idText !== undefined && typeof id !== 'string' && typeof id !== 'number') return err('invalid-request');
  const isAnswer = 'result' in value !== 'error' in value;
  if (method === undefined) return idText !== undefined && isAnswer ? ok({ kind: 'response' }) : err('invalid-request');
  if (typeof method !== 'string' || 'result' in value || 'error' in value) return err('invalid-request');
  if (params !== undefined && !isObject(params)) return err('invalid-request');
  if (idText === undefined && alwaysRequests.has(method)) return err('invalid-request');
  const known = params ?? {};
  return ok(idText === undefined ? { kind: 'notification', method, params: known } : { kind: 'request', idText, method, params: known });
}

function parseJson(text: string): Result<unknown, 'not-json'> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch {
    return err('not-json');
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** @param idText the client's id as written; absent where there is none to answer to */
export function errorResponse(idText: string | undefined, { code, message, data }: RpcErrorBody): string {
  return `{"jsonrpc":"2.0","id":${idText ?? 'null'},"error":${JSON.stringify({ code, message, data })}}`;
}

export function resultResponse(idText: string, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${JSON.stringify(result)}}`;
}
