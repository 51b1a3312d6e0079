/**
 * `initialize`: the one answer that is understood on its way through. What the client declared and what
 * the upstream chose go into a sealed session token, which is the session id that the client sees. It is
 * given only with a successful answer, and only where the upstream has sessions or the client may be
 * asked: for everyone else a sessionless upstream stays one.
 */
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { displayName } from '../protocol/session-token.ts';
import { EventSplitter } from '../protocol/sse.ts';
import { describeError } from '../operate/log.ts';
import { sendAnswer } from './answer.ts';
import { keptParams, nameOfSecrets } from './bindings.ts';
import type { Call } from './call.ts';
import { ClientStream } from './client-stream.ts';
import type { ClientOverride, Gateway } from './gateway.ts';
import { isBound } from './rebind.ts';
import type { AnswerHead, RelayPlan } from './relay.ts';
import { collect, OversizedAnswer, streamEvents, type Sink } from './sinks.ts';
import { isResponse, messageIn, messagesIn } from './upstream-messages.ts';

const maxHandshakeBytes = 4 * 1024 * 1024;

export function initializePlan(gateway: Gateway, call: Call, plain: RelayPlan): RelayPlan {
  return {
    ...plain,
    choose(head) {
      if (head.status >= 300) return plain.choose(head);
      if (head.media === 'json') return initializeJson(gateway, call, head);
      return head.media === 'events' ? initializeEvents(gateway, call, head) : plain.choose(head);
    },
  };
}

function initializeJson(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  return collect(
    maxHandshakeBytes,
    (body) => {
      const headers = sessionHeader(gateway, call, head, messageIn(body.toString()));
      sendAnswer(call.reply, { status: head.status, body: call.scrubber?.json(body) ?? body, headers: { ...headers, 'content-type': head.contentType } });
    },
    (reason) => { sendAnswer(call.reply, call.refuse(reason)); },
  );
}

/** Events before the result are held back, because the session id is a header and the result decides it. */
function initializeEvents(gateway: Gateway, call: Call, head: AnswerHead): Sink {
  const splitter = new EventSplitter();
  const held: Buffer[] = [];
  let heldBytes = 0;
  let streaming: Sink | undefined;
  const begin = (result: JsonObject | undefined, events: Buffer): Sink => {
    const stream = new ClientStream(call.reply, gateway.heartbeat, gateway.now, sessionHeader(gateway, call, head, result));
    const sink = streamEvents(stream, call.scrubber, call.idText ?? 'null');
    sink.data(events);
    return sink;
  };
  return {
    data(chunk) {
      if (streaming !== undefined) return streaming.data(chunk);
      heldBytes += chunk.length;
      if (heldBytes > maxHandshakeBytes) throw new OversizedAnswer();
      const events = splitter.push(chunk);
      if (events === undefined) return true;
      held.push(events);
      const result = messagesIn(events).find(isResponse);
      if (result !== undefined) streaming = begin(result, Buffer.concat([...held, splitter.rest()]));
      return true;
    },
    end() {
      streaming ??= begin(undefined, Buffer.concat([...held, splitter.rest()]));
      streaming.end();
    },
    fail(reason) {
      if (streaming === undefined) sendAnswer(call.reply, call.refuse(reason));
      else streaming.fail(reason);
    },
  };
}

/**
 * The session that an answer to `initialize` opens, if it opens one.
 * @param head of the upstream's answer; absent where the answer is ours
 */
export function sessionHeader(gateway: Gateway, call: Call, head: AnswerHead | undefined, answer: JsonObject | undefined): Record<string, string> {
  const result = answer?.['result'];
  if (!isObject(result)) return {};
  const params = call.message.kind === 'request' ? call.message.params : {};
  const upstreamSession = head?.headers['mcp-session-id'];
  const clientName = displayName(params['clientInfo'], 'name');
  const declared = declaredElicitation(params['capabilities']);
  const override = treatmentOf(gateway.clients, clientName);
  // A session of ours may get one upstream later, once the person has a credential.
  const isPlain = typeof upstreamSession !== 'string' && call.upstream.config.catalogue === undefined;
  if (isPlain && declared === undefined && override === undefined) return {};
  const title = displayName(params['clientInfo'], 'title') ?? clientName;
  const token = gateway.sessions.issue(call.principal, call.upstream.config.name, {
    ...(typeof upstreamSession === 'string' ? { upstreamSession } : {}),
    ...(title === undefined ? {} : { clientName: title }),
    requestedVersion: versionOf(params['protocolVersion']),
    negotiatedVersion: versionOf(result['protocolVersion']),
    takesUrls: override === undefined ? isObject(declared?.['url']) : override === 'url',
  });
  keepBinding(gateway, call, token, params);
  return { 'mcp-session-id': token };
}

/** What a new upstream session will need, should the secrets of this one change. */
function keepBinding(gateway: Gateway, call: Call, token: string, params: JsonObject): void {
  const name = call.upstream.config.name;
  const session = gateway.sessions.read(token, call.principal, name);
  if (session === undefined || !isBound(session, call)) return;
  const { upstreamSession, negotiatedVersion } = session;
  gateway.bindings.begin(session, { params: keptParams(params), secrets: nameOfSecrets(call.held), upstreamSession, negotiatedVersion }).catch((error: unknown) => {
    gateway.log.warn({ upstream: name, reason: describeError(error) }, 'the parameters of a session could not be stored');
  });
}

/** `elicitation: {}` is form mode only (2025-11-25, client/elicitation, "Capabilities"): what counts is `url`. */
function declaredElicitation(capabilities: unknown): JsonObject | undefined {
  const declared = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isObject(declared) ? declared : undefined;
}

function treatmentOf(clients: readonly ClientOverride[], clientName: string | undefined): 'url' | 'text' | undefined {
  return clientName === undefined ? undefined : clients.find((client) => clientName.startsWith(client.name))?.treatAs;
}

/** What could not stand in a header is no version. */
function versionOf(value: unknown): string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,32}$/.test(value) ? value : '';
}
