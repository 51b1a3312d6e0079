/** The step that forwards: the client's bytes as they came, with the person's secrets where the rules say so. */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { isObject } from '../protocol/json-rpc.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { ClientStream } from './client-stream.ts';
import type { Gateway } from './gateway.ts';
import { initializePlan } from './handshake.ts';
import { renderHeaders } from './inject.ts';
import { toolOf } from './match.ts';
import { Relay, type AnswerHead, type RelayPlan } from './relay.ts';
import { injectedHeaders } from './request-headers.ts';
import { collect, discard, maxHeldBytes, passJson, streamEvents, type Sink } from './sinks.ts';

const maxErrorBytes = 1024 * 1024;

export function forward(gateway: Gateway): Step {
  return (call) => {
    try {
      recordUse(gateway, call);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a use could not be recorded, so nothing was injected');
      return call.refuse('unavailable');
    }
    const relay = new Relay(call.reply, planFor(gateway, call), gateway.heartbeat, call.upstream.config.timeout, gateway.now);
    call.upstream.adapter.send({ method: 'POST', headers: upstreamHeaders(call), body: call.body }, relay);
    return 'taken';
  };
}

/** Header list for upstream: what the client sent, the session as the upstream knows it, the person's secrets. */
export function upstreamHeaders(call: Call): string[] {
  return [...call.forwarded, ...sessionHeaders(call), ...injectedHeaders(renderHeaders(call.held), call.upstream)];
}

function sessionHeaders(call: Call): string[] {
  const { session } = call;
  const said = call.raw.headers['mcp-protocol-version'];
  const version = typeof said === 'string' ? said : undefined;
  if (session === undefined) return version === undefined ? [] : ['mcp-protocol-version', version];
  // Some clients leave the version out, or go on naming the one that they asked for.
  const isNegotiated = version === undefined || version === session.requestedVersion;
  const headers = ['mcp-protocol-version', isNegotiated ? session.negotiatedVersion : version];
  return session.upstreamSession === undefined ? headers : [...headers, 'mcp-session-id', session.upstreamSession];
}

function recordUse(gateway: Gateway, call: Call): void {
  for (const { credential, secret } of call.held) {
    const { issuer, subject } = call.principal;
    const name = credential.config.name;
    gateway.audit.record('used', { principal: call.principal, upstream: call.upstream.config.name, credential: name, tool: toolOf(call.message), clientName: call.session?.clientName });
    gateway.vault.noteUse({ issuer, subject, credential: name, ...(credential.place === undefined ? {} : { upstream: credential.place }) }, secret);
  }
}

function planFor(gateway: Gateway, call: Call): RelayPlan {
  const report: RelayPlan['report'] = (reason, error) => {
    gateway.log.warn({ upstream: call.upstream.config.name, outcome: reason, reason: describeError(error) }, 'the upstream failed');
  };
  const { message, reply } = call;
  if (message.kind !== 'request') {
    return { report, refuse: (reason) => { sendAnswer(reply, refuseBare(reason)); }, choose: (head) => chooseForNotification(gateway, call, head) };
  }
  const refuse: RelayPlan['refuse'] = (reason) => { sendAnswer(reply, call.refuse(reason)); };
  if (message.method === 'initialize') return initializePlan(gateway, call, { report, refuse, choose: (head) => chooseForRequest(gateway, call, message.idText, head) });
  return { report, refuse, choose: (head) => chooseForRequest(gateway, call, message.idText, head) };
}

function chooseForRequest(gateway: Gateway, call: Call, idText: string, head: AnswerHead): Sink {
  const { reply, scrubber } = call;
  if (head.status < 300 && head.media === 'events') return streamEvents(new ClientStream(reply, gateway.heartbeat, gateway.now), scrubber, idText);
  if (head.status < 300 && head.media === 'json') {
    if (scrubber === undefined) return passJson(reply, head.status, head.contentType, head.length);
    return collect(
      maxHeldBytes,
      (body) => { sendAnswer(reply, { status: head.status, body: scrubber.json(body), headers: { 'content-type': head.contentType } }); },
      (reason) => { sendAnswer(reply, call.refuse(reason)); },
    );
  }
  return chooseForError(gateway, call, head);
}

/** Statuses from 300 on, and answers that are neither JSON nor events. */
function chooseForError(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  const { reply, session } = call;
  const isSessionGone = head.status === 404 && session?.upstreamSession !== undefined;
  if (isSessionGone) endSession(gateway, call);
  const instead = isSessionGone ? call.refuse('unknown-session') : call.refuse('unreachable');
  // A login that the upstream wants is never the client's to answer.
  const mayPass = head.status >= 400 && head.media === 'json' && head.status !== 401 && head.status !== 403;
  if (!mayPass) {
    if (!isSessionGone) gateway.log.warn({ upstream: call.upstream.config.name, status: head.status, media: head.contentType.slice(0, 80) }, 'the upstream gave no usable answer');
    sendAnswer(reply, instead);
    return discard(maxErrorBytes);
  }
  return collect(
    maxErrorBytes,
    (body) => {
      const scrubbed = call.scrubber?.json(body) ?? body;
      sendAnswer(reply, isRpcAnswer(scrubbed) ? { status: head.status, body: scrubbed } : instead);
    },
    () => { sendAnswer(reply, instead); },
  );
}

function chooseForNotification(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  const { reply } = call;
  if (head.status < 300) {
    sendAnswer(reply, { status: 202 });
    return discard(maxErrorBytes);
  }
  return chooseForError(gateway, call, head);
}

/** An upstream that does not know the session any more ends ours, so that the client starts anew. */
function endSession(gateway: Gateway, call: Call): void {
  if (call.session === undefined) return;
  gateway.sessions.end(call.session).catch((error: unknown) => {
    gateway.log.warn({ upstream: call.upstream.config.name, reason: describeError(error) }, 'the end of a session could not be stored');
  });
}

function isRpcAnswer(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isObject(value) && value['jsonrpc'] === '2.0' && ('error' in value || 'result' in value);
  } catch {
    return false;
  }
}
