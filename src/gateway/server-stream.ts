/**
 * The server stream: a client's standalone GET. Its upstream half carries the upstream's own events, whole;
 * for a session that takes URL elicitations, notices of completion go between them, and the stream is
 * served even when the upstream has none. A new GET takes over from the one before without losing the
 * upstream half; a resuming GET (`Last-Event-ID`) replaces nothing.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { describeError } from '../operate/log.ts';
import { giveBack } from '../protocol/lent-names.ts';
import { EventSplitter, keepAliveComment, messageEvent } from '../protocol/sse.ts';
import type { AnswerController, AnswerHandler } from '../upstreams/upstream.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { ClientStream, eventStreamHeaders } from './client-stream.ts';
import { AnswerBody, decoderFor, type BodyTaker } from './decode.ts';
import { forgetSession } from './forget-session.ts';
import { upstreamHeaders } from './forward.ts';
import type { HeldCredential } from './decide.ts';
import type { Gateway } from './gateway.ts';
import { renderQuery } from './inject.ts';
import { watchStreamedTasks } from './own-tasks.ts';
import { withoutStrayProgress } from './progress.ts';
import { mediaOf } from './relay.ts';
import type { OpenStream } from './server-streams.ts';
import type { Session } from './sessions.ts';
import { maxHeldBytes, OversizedAnswer, type Sink } from './sinks.ts';
import { personal } from './upstream-request.ts';

/** An upstream that keeps its headers to itself is waited for so long, for it may yet say that it has no stream. */
const headersWithinMs = 5_000;

/** Refusals that pass: the client is told to come again, not that there is nothing here. */
const passing: ReadonlySet<number> = new Set([409, 429, 502, 503, 504]);

export function openServerStream(gateway: Gateway): Step {
  return (call) => {
    const { session, reply } = call;
    // A client that hung up while the steps before waited opens nothing and takes nothing over.
    if (reply.destroyed) return 'taken';
    if (gateway.streams.isClosing) {
      sendAnswer(reply, emptyStream);
      return 'taken';
    }
    const isResuming = call.raw.headers['last-event-id'] !== undefined;
    if (isResuming && session !== undefined) gateway.leftStreams.release(session.id);
    const running = session === undefined || isResuming ? undefined : gateway.streams.bySession.get(session.id);
    if (running !== undefined) {
      running.takeOver(call);
      return 'taken';
    }
    new ServerStream(gateway, call, isResuming).openUpstream();
    return 'taken';
  };
}

/** A stream that is over at once: its client opens another, and is not told that there is none. */
const emptyStream = { status: 200, headers: eventStreamHeaders, body: keepAliveComment };

/** One upstream half: what it says after another has taken its place is for nobody. */
class UpstreamHalf implements AnswerHandler {
  #stream: ServerStream | undefined;

  constructor(stream: ServerStream) {
    this.#stream = stream;
  }
  leave(): void {
    this.#stream = undefined;
  }
  onRequestStart(controller: AnswerController): void {
    if (this.#stream === undefined) controller.abort(new Error('another upstream session took its place'));
    else this.#stream.onRequestStart(controller);
  }
  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    this.#stream?.onResponseStart(controller, status, headers);
  }
  onResponseData(controller: AnswerController, chunk: Buffer): void {
    this.#stream?.onResponseData(controller, chunk);
  }
  onResponseEnd(): void {
    this.#stream?.onResponseEnd();
  }
  onResponseError(controller: AnswerController, error: Error): void {
    this.#stream?.onResponseError(controller, error);
  }
}

export class ServerStream implements AnswerHandler, BodyTaker, OpenStream {
  readonly #gateway: Gateway;
  #splitter = new EventSplitter();
  #out: Sink;
  #half: UpstreamHalf | undefined;
  readonly #isStandalone: boolean;
  #call: Call;
  #client: ClientStream | undefined;
  #controller: AnswerController | undefined;
  #body: AnswerBody | undefined;
  #stopWaiting: (() => void) | undefined;
  #detach: (() => void) | undefined;
  readonly #stopExpiry: () => void;
  #isUpstreamOver = false;

  constructor(gateway: Gateway, call: Call, isResuming: boolean) {
    this.#gateway = gateway;
    this.#call = call;
    this.#out = this.#openOut();
    this.#isStandalone = call.session !== undefined && !isResuming;
    gateway.streams.all.add(this);
    if (this.#isStandalone && call.session !== undefined) gateway.streams.bySession.set(call.session.id, this);
    this.#endWith(call);
    this.#stopExpiry = this.#endWithToken();
    // A client that may be asked gets its stream whatever the upstream says; others once it is known that there is one.
    if (call.session?.takesUrls === true) this.#begin();
    else this.#waitForHeaders();
  }

  /** Goes on with a new client connection; the old one ends. */
  takeOver(call: Call): void {
    const before = { client: this.#client, reply: this.#call.reply };
    this.#call = call;
    this.#endWith(call);
    if (before.client === undefined) {
      sendAnswer(before.reply, emptyStream);
      return;
    }
    this.#begin();
    before.client.end();
    // The old connection may have been too slow; the new one is not.
    this.#body?.resume();
  }

  /** Asks the upstream for its half, in place of the one before. */
  openUpstream(): void {
    const before = this.#controller;
    const half = new UpstreamHalf(this);
    this.#half?.leave();
    this.#half = half;
    this.#body?.close();
    this.#body = undefined;
    this.#controller = undefined;
    this.#splitter = new EventSplitter();
    this.#out = this.#openOut();
    if (before?.aborted === false) before.abort(new Error('another upstream session took its place'));
    this.#call.upstream.adapter.send({ method: 'GET', headers: upstreamHeaders(this.#call), query: renderQuery(this.#call.held), ...personal(this.#call) }, half);
  }

  reopen(session: Session, held: readonly HeldCredential[]): void {
    this.#call.session = session;
    this.#call.held = held;
    // Events of another session cannot be gone on with.
    this.#call.forwarded = this.#call.forwarded.filter((_, at, all) => all[at - (at % 2)] !== 'last-event-id');
    this.#isUpstreamOver = false;
    this.openUpstream();
  }

  end(): void {
    this.#stop();
    if (this.#client === undefined) sendAnswer(this.#call.reply, emptyStream);
    else this.#client.end();
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller;
    if (this.#isUpstreamOver) controller.abort(new Error('the client closed its stream before it was opened'));
  }

  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const decoder = decoderFor(headers['content-encoding']);
    if (status !== 200 || mediaOf(headers['content-type'] ?? '') !== 'events' || decoder === 'unknown') {
      this.#refused(status);
      controller.abort(new Error('the upstream has no stream here'));
      return;
    }
    // They keep the whole read alive that they came with, for as long as the stream is open.
    Object.assign(controller, { rawHeaders: null });
    this.#body = new AnswerBody(controller, decoder, this);
    if (this.#client === undefined) this.#begin();
  }

  onResponseData(_controller: AnswerController, chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#body?.end();
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    this.failed(error);
  }

  take(bytes: Buffer): boolean {
    const events = this.#splitter.push(bytes);
    if (this.#splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
    if (events === undefined) return true;
    return this.#out.data(this.#withOwnNames(events));
  }

  /** Where whole events go. */
  #openOut(): Sink {
    return watchStreamedTasks(this.#gateway, this.#call, {
      data: (events) => this.#client?.write(this.#call.scrubber?.events(events) ?? events) ?? true,
      end: () => { this.end(); },
      fail: (reason) => { this.failed(new Error(reason)); },
    });
  }

  /** What is resumed may be the answer of a request under a lent name, or progress of the past, which is left alone. */
  #withOwnNames(events: Buffer): Buffer {
    const own = giveBack(events);
    const { session } = this.#call;
    if (!this.#isStandalone || session === undefined) return own;
    return withoutStrayProgress(own, (token) => this.#gateway.inFlight.awaitsProgress(session.id, token));
  }

  done(): void {
    if (this.#isUpstreamOver) return;
    this.#out.end();
  }

  failed(error: Error): void {
    if (this.#isUpstreamOver) return;
    this.#gateway.log.warn({ upstream: this.#call.upstream.config.name, reason: describeError(error) }, 'the upstream half of a server stream failed');
    if (this.#client === undefined) sendAnswer(this.#call.reply, refuseBare('unreachable'));
    this.end();
  }

  /** Opens the client's half. */
  #begin(): void {
    this.#stopWaiting?.();
    const { session, reply } = this.#call;
    const client = new ClientStream(reply, this.#gateway.heartbeat, this.#gateway.now);
    this.#client = client;
    client.write(keepAliveComment);
    reply.on('drain', () => {
      if (this.#client === client) this.#body?.resume();
    });
    if (session?.takesUrls !== true) return;
    this.#detach ??= this.#gateway.notices.attach(
      session.id,
      (json) => this.#client?.own(messageEvent(json)) ?? false,
      (error) => { this.#gateway.log.error({ reason: describeError(error) }, 'notices could not be read'); },
    );
  }

  /** Proxies on the client's way cut a stream of which they have seen no byte, so this waits for a while only. */
  #waitForHeaders(): void {
    const { heartbeat, now } = this.#gateway;
    const since = now();
    this.#stopWaiting = heartbeat.add(() => {
      if (now() - since >= headersWithinMs) this.#begin();
    });
  }

  /** The upstream half ends with the client's, unless another client connection has taken over. */
  #endWith(call: Call): void {
    call.reply.once('close', () => {
      if (this.#call === call) this.#stop();
    });
  }

  /** Nor does a stream outlive the access token that opened it. */
  #endWithToken(): () => void {
    const { heartbeat, now } = this.#gateway;
    return heartbeat.add(() => {
      if ((this.#call.principal.expiresAt ?? Infinity) <= now()) this.end();
    });
  }

  /** The upstream has no stream: ours stays, or the client is told in the way that every client understands. */
  #refused(status: number): void {
    this.#isUpstreamOver = true;
    const { session, reply } = this.#call;
    const isSessionGone = status === 404 && session?.upstreamSession !== undefined;
    if (isSessionGone) forgetSession(this.#gateway, this.#call.upstream.config.name, session);
    const isOver = isSessionGone || passing.has(status);
    if (this.#client !== undefined && !isOver) return;
    if (this.#client === undefined) sendAnswer(reply, isSessionGone ? refuseBare('unknown-session') : isOver ? refuseBare('unreachable') : refuseBare('no-stream', { allow: 'POST' }));
    this.end();
  }

  #stop(): void {
    this.#stopWaiting?.();
    this.#stopExpiry();
    this.#detach?.();
    this.#detach = undefined;
    const { streams } = this.#gateway;
    const { session } = this.#call;
    streams.all.delete(this);
    if (this.#isStandalone && session !== undefined && streams.bySession.get(session.id) === this) streams.bySession.delete(session.id);
    const wasOver = this.#isUpstreamOver;
    this.#isUpstreamOver = true;
    this.#body?.close();
    if (!wasOver && this.#controller?.aborted === false) this.#controller.abort(new Error('the stream is over'));
  }
}
