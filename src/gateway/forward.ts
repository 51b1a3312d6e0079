/** The step that forwards: the client's bytes as they came, with the person's secrets where the rules say so. */
import type { Reason } from '../errors.ts';
import { personKey } from '../identity/principal.ts';
import { describeError } from '../operate/log.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { refuseBare, type Answer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { ClientStream } from './client-stream.ts';
import type { Gateway } from './gateway.ts';
import { initializePlan } from './handshake.ts';
import { askForScopes, mayResend, renewRefused } from './resend.ts';
import { renderHeaders, renderQuery } from './inject.ts';
import { injectIntoMessage } from './inject-body.ts';
import { askAgain, inspectEvents, isRejectedAnswer, isRejectedStatus, mustInspect } from './rejection.ts';
import { endWithToken, isListening } from './listen.ts';
import { answerChanges } from './modern-results.ts';
import { beginFlight, outgoingBody, restoreNames, startsTask, untilOver } from './outgoing.ts';
import { watchTasks } from './own-tasks.ts';
import { dropStrayProgress } from './progress.ts';
import { Relay, type AnswerHead, type RelayPlan } from './relay.ts';
import { injectedHeaders } from './request-headers.ts';
import { forgetSession } from './forget-session.ts';
import { collect, discard, maxHeldBytes, passJson, streamEvents, type LiveScrubber, type Sink } from './sinks.ts';
import { isResponse, messageIn } from './upstream-messages.ts';
import { personal } from './upstream-request.ts';

const maxErrorBytes = 1024 * 1024;

export function forward(gateway: Gateway): Step {
  return (call) => {
    const message = injectIntoMessage(call, upstreamHeaders(call));
    if (!message.ok) return call.refuse(message.error);
    const { body, headers } = message.value;
    const flight = beginFlight(gateway, call);
    const plan = watchTasks(gateway, call, planFor(gateway, call));
    const relay = new Relay(call.reply, flight?.isLent === true ? restoreNames(plan) : plan, gateway.heartbeat, isListening(call) ? Infinity : call.upstream.config.timeout, gateway.now);
    const handler = flight === undefined ? relay : untilOver(relay, () => { flight.over(startsTask(call.message)); });
    call.upstream.adapter.send({ method: 'POST', headers: ['content-type', 'application/json', ...headers], body: outgoingBody(gateway, call, body, flight), query: renderQuery(call.held), ...personal(call) }, handler);
    return 'taken';
  };
}

/** Header list for upstream: what the client sent, the session as the upstream knows it, the person's secrets. */
export function upstreamHeaders(call: Call): string[] {
  return [...call.forwarded, ...sessionHeaders(call), ...injectedHeaders(renderHeaders(call.held), call.upstream.operatorHeaders)];
}

function sessionHeaders(call: Call): string[] {
  const { session } = call;
  const said = call.raw.headers['mcp-protocol-version'];
  const version = typeof said === 'string' ? said : undefined;
  if (session === undefined) return version === undefined ? [] : ['mcp-protocol-version', version];
  // Some clients leave the version out, or go on naming the one that they asked for.
  const isMeant = session.negotiatedVersion !== '' && (version === undefined || version === session.requestedVersion);
  const meant = isMeant ? session.negotiatedVersion : version;
  return [
    ...(meant === undefined ? [] : ['mcp-protocol-version', meant]),
    ...(session.upstreamSession === undefined ? [] : ['mcp-session-id', session.upstreamSession]),
  ];
}

function planFor(gateway: Gateway, call: Call): RelayPlan {
  const report: RelayPlan['report'] = (reason, error) => {
    gateway.log.warn({ upstream: call.upstream.config.name, outcome: reason, reason: describeError(error) }, 'the upstream failed');
  };
  let isStream = false;
  const unheard: RelayPlan['unheard'] = (breakOff) => {
    // Hanging up is how a modern client cancels (2026-07-28, basic/transports, "Cancellation").
    if (call.era === 'modern') breakOff();
    const forget = gateway.unheard.add(personKey(call.principal), breakOff);
    const forgetLeft = isStream && call.session !== undefined ? gateway.leftStreams.add(call.session.id, breakOff) : undefined;
    return () => {
      forget();
      forgetLeft?.();
    };
  };
  const { message } = call;
  if (message.kind !== 'request') {
    return { report, unheard, refuse: (reason) => { call.send(refuseBare(reason)); }, choose: (head) => chooseForNotification(gateway, call, head) };
  }
  const plan: RelayPlan = {
    report,
    unheard,
    refuse: (reason) => { call.send(call.refuse(reason)); },
    choose(head) {
      isStream = head.media === 'events';
      return chooseForRequest(gateway, call, message.idText, head);
    },
  };
  return message.method === 'initialize' ? initializePlan(gateway, call, plan) : plan;
}

function chooseForRequest(gateway: Gateway, call: Call, idText: string, head: AnswerHead): Sink {
  const { reply } = call;
  const scrubber = answerChanges(gateway, call);
  if (head.status < 300 && head.media === 'events') {
    const stream = call.stream ?? new ClientStream(reply, gateway.heartbeat, gateway.now);
    if (isListening(call)) endWithToken(gateway, call, stream);
    const sink = streamEvents(stream, scrubber, idText);
    return dropStrayProgress(awaitedProgress(gateway, call), mustInspect(call) ? inspectEvents(gateway, call, stream, sink) : sink);
  }
  if (head.status < 300 && head.media === 'json') {
    const failed = (reason: Reason): void => { call.send(call.refuse(reason)); };
    if (!mustInspect(call) && call.stream === undefined) return passJson(reply, head, failed, scrubber);
    return collect(maxHeldBytes, (body) => { sendJson(gateway, call, head, body, scrubber); }, failed);
  }
  return chooseForError(gateway, call, head);
}

/** Progress of the call itself, or of any other in its session. */
function awaitedProgress(gateway: Gateway, { session, message }: Call): (token: unknown) => boolean {
  if (session !== undefined) return (token) => gateway.inFlight.awaitsProgress(session.id, token);
  const own = message.kind === 'request' && isObject(message.params['_meta']) ? message.params['_meta']['progressToken'] : undefined;
  return (token) => own !== undefined && token === own;
}

/** One whole JSON answer, inspected or sent on a stream that has begun: the question instead, when it says that a credential is bad. */
function sendJson(gateway: Gateway, call: Call, head: AnswerHead, body: Buffer, scrubber: LiveScrubber | undefined): void {
  const pass = { status: head.status, body: scrubber?.json(body) ?? body, headers: { 'content-type': head.contentType } };
  const answer = mustInspect(call) ? messageIn(body.toString()) : undefined;
  if (answer !== undefined && isRejectedAnswer(call, answer)) answerRejected(gateway, call, pass);
  else call.send(pass);
}

/** @param otherwise what the client gets when it is not asked again */
function answerRejected(gateway: Gateway, call: Call, otherwise: Answer): void {
  askAgain(gateway, call).then((answer) => { call.send(answer ?? otherwise); }, failedInside(gateway, call));
}

function failedInside(gateway: Gateway, call: Call): (error: unknown) => void {
  return (error) => {
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a call failed inside the proxy');
    call.send(call.refuse('unavailable'));
  };
}

/** Statuses from 300 on, and answers that are neither JSON nor events. */
function chooseForError(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  const { reply, session } = call;
  // Perhaps it is another upstream by now.
  if (call.era === 'modern') gateway.eras.forget(call.upstream);
  const asking = askForScopes(gateway, call, head);
  if (asking !== undefined || mayResend(gateway, call, head.status)) {
    (asking ?? renewRefused(gateway, call))
      .then((answer) => (answer ?? (reply.destroyed ? undefined : forward(gateway)(call))))
      .then((answer) => { if (answer !== undefined && answer !== 'taken') call.send(answer); })
      .catch(failedInside(gateway, call));
    return discard(maxErrorBytes);
  }
  if (call.idText !== undefined && isRejectedStatus(call, head.status)) {
    answerRejected(gateway, call, call.refuse('unreachable'));
    return discard(maxErrorBytes);
  }
  const isSessionGone = head.status === 404 && session?.upstreamSession !== undefined;
  if (isSessionGone) {
    gateway.streams.bySession.get(session.id)?.end();
    forgetSession(gateway, call.upstream.config.name, session);
  }
  // A login that the upstream wants is never the client's to answer.
  const isLogin = head.status === 401 || head.status === 403;
  const isPlainRefusal = call.idText === undefined && head.status >= 400 && head.status < 500 && !isLogin;
  const instead = isSessionGone ? call.refuse('unknown-session') : isPlainRefusal ? { status: head.status } : unusable(call, head.status, isLogin);
  const mayPass = head.status >= 400 && head.media === 'json' && !isLogin;
  if (!mayPass) {
    // The upstream's own words stay out of the log: they may repeat what it was sent.
    if (!isSessionGone) gateway.log.warn({ upstream: call.upstream.config.name, status: head.status, media: head.media }, 'the upstream gave no usable answer');
    call.send(instead);
    return discard(maxErrorBytes);
  }
  return collect(
    maxErrorBytes,
    (body) => {
      const scrubbed = call.scrubber?.json(body) ?? body;
      call.send(isRpcAnswer(scrubbed) ? { status: head.status, body: scrubbed } : instead);
    },
    () => { call.send(instead); },
  );
}

/** A client of both eras that tries the modern one first falls back when it reads a 4xx, and gives up at a 5xx. */
function unusable(call: Call, status: number, isLogin: boolean): Answer {
  const answer = call.refuse('unreachable');
  return call.era === 'modern' && status >= 400 && status < 500 && !isLogin ? { ...answer, status } : answer;
}

function chooseForNotification(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  if (head.status < 300) {
    call.send({ status: 202 });
    return discard(maxErrorBytes);
  }
  return chooseForError(gateway, call, head);
}

function isRpcAnswer(body: Buffer): boolean {
  const message = messageIn(body.toString());
  return message !== undefined && message['jsonrpc'] === '2.0' && isResponse(message);
}
