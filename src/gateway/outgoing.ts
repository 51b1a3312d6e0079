/**
 * A client's message as it leaves for the upstream. Its bytes go as they came, except where a name in it
 * would be mistaken: then it is lent another one, and the answer comes back under its own.
 */
import { memberText, setMember, type MemberPath } from '../protocol/json-edit.ts';
import { isObject, type RpcMessage } from '../protocol/json-rpc.ts';
import { giveBack } from '../protocol/lent-names.ts';
import { EventSplitter } from '../protocol/sse.ts';
import type { AnswerHandler } from '../upstreams/upstream.ts';
import type { Call } from './call.ts';
import type { Gateway } from './gateway.ts';
import type { Flight } from './in-flight.ts';
import type { RelayPlan } from './relay.ts';
import { collect, maxHeldBytes, OversizedAnswer, type Sink } from './sinks.ts';

/** Takes note of a request that is about to leave. @returns undefined for what is no request of a session */
export function beginFlight(gateway: Gateway, { message, session, body }: Call): Flight | undefined {
  if (message.kind !== 'request' || session === undefined) return undefined;
  const hasToken = isObject(message.params['_meta']) && isToken(message.params['_meta']['progressToken']);
  return gateway.inFlight.begin(session.id, message.idText, hasToken ? memberText(body.toString(), tokenPath) : undefined);
}

const tokenPath: MemberPath = ['params', '_meta', 'progressToken'];
const cancelledPath: MemberPath = ['params', 'requestId'];

function isToken(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/**
 * @param body the message as it would leave
 * @returns its bytes, with lent names where it has some
 */
export function outgoingBody(gateway: Gateway, { message, session }: Call, body: Buffer, flight: Flight | undefined): Buffer {
  if (message.kind === 'notification' && message.method === 'notifications/cancelled' && session !== undefined) {
    const text = body.toString();
    const own = memberText(text, cancelledPath);
    const name = own === undefined ? undefined : gateway.inFlight.nameOf(session.id, own);
    return name === undefined || name === own ? body : withMember(text, cancelledPath, name);
  }
  if (message.kind !== 'request' || flight === undefined) return body;
  if (!flight.isLent) return body;
  const named = withMember(body.toString(), ['id'], flight.idText);
  return flight.tokenText === undefined ? named : withMember(named.toString(), tokenPath, flight.tokenText);
}

/** Where the member stands, because it was read there. */
function withMember(text: string, path: MemberPath, value: string): Buffer {
  const changed = setMember(text, path, value);
  if (!changed.ok) throw new Error('a member that was read cannot be set');
  return Buffer.from(changed.value);
}

/** Gives the client its own names back, before anything else looks at the answer. */
export function restoreNames(plan: RelayPlan): RelayPlan {
  return {
    ...plan,
    choose(head) {
      const sink = plan.choose({ ...head, length: undefined });
      return head.media === 'events' ? restoreEvents(sink) : restoreWhole(sink);
    },
  };
}

function restoreWhole(next: Sink): Sink {
  return collect(
    maxHeldBytes,
    (body) => {
      next.data(giveBack(body));
      next.end();
    },
    (reason) => { next.fail(reason); },
  );
}

function restoreEvents(next: Sink): Sink {
  const splitter = new EventSplitter();
  return {
    data(chunk) {
      const events = splitter.push(chunk);
      if (splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
      return events === undefined ? true : next.data(giveBack(events));
    },
    end() {
      const rest = splitter.rest();
      if (rest.length > 0) next.data(giveBack(rest));
      next.end();
    },
    fail: (reason) => { next.fail(reason); },
  };
}

/** A request that is answered by a task, and goes on after its answer. */
export function startsTask(message: RpcMessage): boolean {
  return message.kind === 'request' && isObject(message.params['task']);
}

/** Tells when the upstream is done with a request, whoever still listens. */
export function untilOver(handler: AnswerHandler, over: () => void): AnswerHandler {
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, status, headers, text) => handler.onResponseStart?.(controller, status, headers, text),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd(controller, trailers) {
      over();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      over();
      handler.onResponseError?.(controller, error);
    },
  };
}
