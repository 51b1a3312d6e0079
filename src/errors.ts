/**
 * The closed set of reasons for which Elicitgate itself refuses a call, and the one place that turns
 * them into an HTTP status and a JSON-RPC code. Public words are vaguer than the log on purpose.
 * Codes outside -32768..-32000 are ours (JSON-RPC 2.0 §5.1 reserves that range).
 */

export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

interface PublicError {
  /** HTTP status of the answer to a legacy request. */
  readonly status: number;
  /** HTTP status of answers to modern requests, and where no JSON-RPC answer is possible: notifications, GET, DELETE. */
  readonly bareStatus: number;
  /** JSON-RPC error code. */
  readonly code: number;
  readonly message: string;
}

/**
 * Why a call is refused. Statuses of legacy calls whose JSON-RPC error a client must be able to read are 200:
 * such clients drop the body of anything else.
 */
export const refusals = {
  'foreign-host': { status: 403, bareStatus: 403, code: -32600, message: 'This Host is not served here; the operator can add it to server.allowedHosts.' },
  'foreign-origin': { status: 403, bareStatus: 403, code: -32600, message: 'This Origin is not served here; the operator can add it to server.allowedOrigins.' },
  forwarded: { status: 403, bareStatus: 403, code: -32600, message: 'This proxy serves one local person and refuses forwarded requests; behind a proxy it needs another identity.' },
  unauthorized: { status: 401, bareStatus: 401, code: -32600, message: 'An access token of a person, for this server, is needed.' },
  'insufficient-scope': { status: 403, bareStatus: 403, code: -32600, message: 'The access token lacks a scope that this server requires.' },
  'identity-unavailable': { status: 503, bareStatus: 503, code: 1503, message: 'Who calls cannot be checked right now; try again in a moment.' },
  'not-json': { status: 400, bareStatus: 400, code: -32700, message: 'The body is not JSON in UTF-8.' },
  'invalid-request': { status: 400, bareStatus: 400, code: -32600, message: 'The body is not one unambiguous JSON-RPC message.' },
  'repeated-header': { status: 400, bareStatus: 400, code: -32600, message: 'A header that may come once came twice.' },
  'unsupported-era': { status: 400, bareStatus: 400, code: -32600, message: 'This server is opened with initialize (MCP 2024-11-05 to 2025-11-25).' },
  'header-mismatch': { status: 400, bareStatus: 400, code: -32020, message: 'A header that repeats the body is missing, malformed or says something else than the body.' },
  'missing-meta': { status: 400, bareStatus: 400, code: -32602, message: 'The request lacks a protocol version or client capabilities in _meta.' },
  'invalid-state': { status: 400, bareStatus: 400, code: -32602, message: 'The requestState is not what this server gave for this request; send the request again without it.' },
  'unsupported-media': { status: 415, bareStatus: 415, code: -32600, message: 'The body must be application/json, in UTF-8, not compressed.' },
  'not-acceptable': { status: 406, bareStatus: 406, code: -32600, message: 'The client must accept application/json or text/event-stream.' },
  'too-large': { status: 413, bareStatus: 413, code: -32600, message: 'The message is larger than this proxy takes; the operator can raise server.maxBody.' },
  'unknown-session': { status: 404, bareStatus: 404, code: -32001, message: 'Session not found; start a new one with initialize.' },
  'unknown-task': { status: 200, bareStatus: 404, code: -32602, message: 'Failed to retrieve task: Task not found.' },
  'no-stream': { status: 405, bareStatus: 405, code: -32000, message: 'This server offers no stream here.' },
  'too-many-calls': { status: 429, bareStatus: 429, code: 1429, message: 'Too many calls; try again later.' },
  'credential-required': { status: 200, bareStatus: 403, code: 1401, message: 'A credential is required for this.' },
  declined: { status: 200, bareStatus: 200, code: 1402, message: 'The user declined to provide what this needs. Send the request again when the user wants to.' },
  unreachable: { status: 200, bareStatus: 502, code: 1502, message: 'The server behind this proxy cannot be reached or gave no usable answer; its operator can see why in the log.' },
  'too-slow': { status: 200, bareStatus: 504, code: 1504, message: 'The server behind this proxy did not answer in time.' },
  'account-unavailable': { status: 200, bareStatus: 503, code: 1503, message: 'The service at which your account is connected cannot be asked right now, so this was not carried out; try again in a moment. If it goes on, connect the account again on your account page.' },
  unavailable: { status: 200, bareStatus: 503, code: 1503, message: 'Credentials cannot be looked up right now, so this was not carried out; try again in a moment.' },
} as const satisfies Record<string, PublicError>;

export type Reason = keyof typeof refusals;

/** "Could not look", as opposed to "not there": the store, the key or a record failed. Fails closed everywhere. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}
