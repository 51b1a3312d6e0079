/**
 * Calls that a connection sends behind one that is not answered yet (RFC 9112 §9.3.2). They begin in their
 * order, a few in each turn of the event loop, so that thousands of them in one packet hold up nobody else.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const perTurn = 8;

const waiting = new WeakMap<Socket, (() => void)[]>();

/** Begins a call: at once, or in its turn when it was sent behind another. */
export function inTurn({ socket }: IncomingMessage, reply: ServerResponse, begin: () => void): void {
  // Node gives an answer the connection once the one before it is written.
  if (reply.socket !== null) {
    begin();
    return;
  }
  const calls = waiting.get(socket) ?? [];
  waiting.set(socket, calls);
  if (calls.push(begin) === 1) setImmediate(takeTurn, calls);
}

function takeTurn(calls: (() => void)[]): void {
  for (const begin of calls.splice(0, perTurn)) begin();
  if (calls.length > 0) setImmediate(takeTurn, calls);
}
