/** DELETE: the client ends its session. The tombstone comes first, so that nothing brings the session back; the upstream is told after. */
import type { IncomingHttpHeaders } from 'node:http';
import { UnavailableError } from '../errors.ts';
import type { AnswerController, AnswerHandler } from '../upstreams/upstream.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { upstreamHeaders } from './forward.ts';
import type { Gateway } from './gateway.ts';

const methodNotAllowed = 405;

export function endSession(gateway: Gateway): Step {
  return async (call) => {
    const { session } = call;
    if (session !== undefined && session.upstreamSession === undefined) {
      const failure = await bury(gateway, call);
      return failure ?? { status: 200, headers: { 'content-length': '0' } };
    }
    call.upstream.adapter.send({ method: 'DELETE', headers: upstreamHeaders(call) }, deleteHandler(gateway, call));
    return 'taken';
  };
}

/** An upstream that does not let clients end sessions says 405, and then ours goes on too; every other answer ends it. */
function deleteHandler(gateway: Gateway, call: Call): AnswerHandler {
  const { reply } = call;
  const settle = async (status: number): Promise<void> => {
    const failure = status === methodNotAllowed ? undefined : await bury(gateway, call);
    if (failure !== undefined) sendAnswer(reply, failure);
    else if (status >= 200 && status < 300) sendAnswer(reply, { status });
    else if (status === methodNotAllowed) sendAnswer(reply, refuseBare('no-stream', { allow: 'POST' }));
    else if (status === 404) sendAnswer(reply, refuseBare('unknown-session'));
    else if (status >= 400 && status < 500 && status !== 401 && status !== 403) sendAnswer(reply, { status });
    else sendAnswer(reply, refuseBare('unreachable'));
  };
  return {
    onRequestStart: () => undefined,
    onResponseStart(controller: AnswerController, status: number, _headers: IncomingHttpHeaders) {
      if (status < 200) return;
      void settle(status);
      controller.resume();
    },
    onResponseData: () => undefined,
    onResponseEnd: () => undefined,
    onResponseError() {
      void settle(502);
    },
  };
}

async function bury(gateway: Gateway, call: Call) {
  if (call.session === undefined) return undefined;
  gateway.streams.bySession.get(call.session.id)?.end();
  try {
    await gateway.sessions.end(call.session);
    return undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return refuseBare('unavailable');
  }
}
