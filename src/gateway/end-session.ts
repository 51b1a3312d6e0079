/**
 * DELETE: the client ends its session. An upstream that does not let clients end sessions says 405, and then
 * ours goes on too; after any other answer, or none, the session is over here, whatever it is upstream.
 */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import type { AnswerHandler } from '../upstreams/upstream.ts';
import { refuseBare, type Answer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { upstreamHeaders } from './forward.ts';
import type { Gateway } from './gateway.ts';
import { renderQuery } from './inject.ts';
import { isBound } from './rebind.ts';
import { personal } from './upstream-request.ts';

const methodNotAllowed = 405;
const badGateway = 502;

export function endSession(gateway: Gateway): Step {
  const underway = new Map<string, Promise<Answer>>();
  return (call) => {
    const { session } = call;
    if (session === undefined) return end(gateway, call);
    // However often a client asks, the upstream is told once.
    const known = underway.get(session.id);
    if (known !== undefined) return known;
    const answer = end(gateway, call).finally(() => underway.delete(session.id));
    underway.set(session.id, answer);
    return answer;
  };
}

async function end(gateway: Gateway, call: Call): Promise<Answer> {
  const { session } = call;
  if (session !== undefined && session.upstreamSession === undefined) return finish(gateway, call, 200);
  return finish(gateway, call, await tell(gateway, call));
}

/** @returns what the upstream answers */
function tell(gateway: Gateway, call: Call): Promise<number> {
  return new Promise((settle) => {
    call.upstream.adapter.send({ method: 'DELETE', headers: upstreamHeaders(call), query: renderQuery(call.held), ...personal(call) }, statusHandler(gateway, call, settle));
  });
}

/** Another call, here or in another process, may have opened a new upstream session behind this one meanwhile. */
async function endSuccessor(gateway: Gateway, call: Call): Promise<void> {
  const { session } = call;
  if (session === undefined || !isBound(session, call)) return;
  const binding = await gateway.bindings.read(session);
  if (binding?.upstreamSession === undefined || binding.upstreamSession === session.upstreamSession) return;
  call.session = { ...session, upstreamSession: binding.upstreamSession, negotiatedVersion: binding.negotiatedVersion };
  await tell(gateway, call);
}

/** Takes the status of the upstream's answer and nothing more; a client that hangs up has ended its session all the same. */
function statusHandler(gateway: Gateway, call: Call, settle: (status: number) => void): AnswerHandler {
  let isSettled = false;
  return {
    onRequestStart: () => undefined,
    onResponseStart(controller, status) {
      if (status < 200) return;
      isSettled = true;
      settle(status);
      controller.abort(new Error('the rest of this answer says nothing'));
    },
    onResponseData: () => undefined,
    onResponseEnd: () => undefined,
    onResponseError(_controller, error) {
      if (isSettled) return;
      gateway.log.warn({ upstream: call.upstream.config.name, reason: describeError(error) }, 'the upstream did not hear of the end of a session');
      settle(badGateway);
    },
  };
}

/** @param status the upstream's */
async function finish(gateway: Gateway, call: Call, status: number): Promise<Answer> {
  if (status === methodNotAllowed) return refuseBare('no-stream', { allow: 'POST' });
  if (!(await bury(gateway, call))) return refuseBare('unavailable');
  if (status === 404) return refuseBare('unknown-session');
  const mayPass = status < 300 || (status >= 400 && status < 500 && status !== 401 && status !== 403);
  return mayPass ? { status } : refuseBare('unreachable');
}

/** @returns whether the tombstone is in the store; in this process the session is over in any case */
async function bury(gateway: Gateway, call: Call): Promise<boolean> {
  const { session } = call;
  if (session === undefined) return true;
  gateway.streams.bySession.get(session.id)?.end();
  try {
    await gateway.sessions.end(session);
    endSuccessor(gateway, call).catch((error: unknown) => {
      gateway.log.warn({ upstream: call.upstream.config.name, reason: describeError(error) }, 'whether the upstream still has a session could not be looked up');
    });
    return true;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ reason: describeError(error) }, 'the end of a session could not be stored');
    return false;
  }
}
