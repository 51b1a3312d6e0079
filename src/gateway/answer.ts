/** Answers of our own on the MCP endpoint: one place that writes them, with the statuses of `errors.ts`. */
import type { ServerResponse } from 'node:http';
import { refusals, type Reason } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import { errorResponse } from '../protocol/json-rpc.ts';

export interface Answer {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal of a request that has an id: the status under which its client reads the JSON-RPC error. */
export function refuseRequest(reason: Reason, idText: string, era: Era): Answer {
  const refusal = refusals[reason];
  return { status: era === 'modern' ? refusal.bareStatus : refusal.status, body: errorResponse(idText, refusal) };
}

/** A refusal where there is no id to answer to: the status says what happened. */
export function refuseBare(reason: Reason, headers: Readonly<Record<string, string>> = {}): Answer {
  const refusal = refusals[reason];
  return { status: refusal.bareStatus, body: errorResponse(undefined, refusal), headers };
}

export function sendAnswer(reply: ServerResponse, answer: Answer): void {
  if (reply.headersSent || reply.destroyed) return;
  if (answer.body === undefined) {
    reply.writeHead(answer.status, { ...answer.headers, ...(answer.status === 204 ? {} : { 'content-length': 0 }) });
    reply.end();
    return;
  }
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  reply.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers, 'content-length': body.length });
  reply.end(body);
}
