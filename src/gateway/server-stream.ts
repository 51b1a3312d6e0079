/**
 * The server stream: a client's standalone GET. Its upstream half carries the upstream's own events; for a
 * session that takes URL elicitations, notices of completion go between them, and the stream is served
 * even when the upstream has none. A new GET takes over from the one before without losing the upstream
 * half; a resuming GET (`Last-Event-ID`) replaces nothing.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { describeError } from '../operate/log.ts';
import { EventSplitter, keepAliveComment, messageEvent } from '../protocol/sse.ts';
import type { AnswerController, AnswerHandler } from '../upstreams/upstream.ts';
import { refuseBare, sendAnswer } from './answer.ts';
import type { Call, Step } from './call.ts';
import { ClientStream } from './client-stream.ts';
import { decoderFor } from './decode.ts';
import { upstreamHeaders } from './forward.ts';
import type { Gateway } from './gateway.ts';
import { mediaOf } from './relay.ts';
import { maxHeldBytes, OversizedAnswer } from './sinks.ts';

/** The open server streams of this process. */
export interface ServerStreams {
  /** The stream that a new GET of this session takes over. */
  readonly bySession: Map<string, ServerStream>;
  readonly all: Set<ServerStream>;
  /** Ends every stream cleanly. */
  endAll(): void;
}

export function createServerStreams(): ServerStreams {
  const all = new Set<ServerStream>();
  return {
    bySession: new Map(),
    all,
    endAll() {
      for (const stream of [...all]) stream.end();
    },
  };
}

export function openServerStream(gateway: Gateway): Step {
  return (call) => {
    const { session } = call;
    const isResuming = call.raw.headers['last-event-id'] !== undefined;
    const running = session === undefined || isResuming ? undefined : gateway.streams.bySession.get(session.id);
    if (running !== undefined) {
      running.takeOver(call);
      return 'taken';
    }
    const stream = new ServerStream(gateway, call, isResuming);
    call.upstream.adapter.send({ method: 'GET', headers: upstreamHeaders(call) }, stream);
    return 'taken';
  };
}

export class ServerStream implements AnswerHandler {
  readonly #gateway: Gateway;
  readonly #splitter = new EventSplitter();
  readonly #isStandalone: boolean;
  #call: Call;
  #client: ClientStream | undefined;
  #controller: AnswerController | undefined;
  #detach: (() => void) | undefined;
  #isUpstreamOver = false;

  constructor(gateway: Gateway, call: Call, isResuming: boolean) {
    this.#gateway = gateway;
    this.#call = call;
    this.#isStandalone = call.session !== undefined && !isResuming;
    gateway.streams.all.add(this);
    if (this.#isStandalone && call.session !== undefined) gateway.streams.bySession.set(call.session.id, this);
    // A client that may be asked gets its stream whatever the upstream says.
    if (call.session?.takesUrls === true) this.#begin(call);
    else this.#endWith(call);
  }

  /** Goes on with a new client connection; the old one ends. */
  takeOver(call: Call): void {
    const before = this.#client;
    this.#call = call;
    if (before === undefined) {
      this.#endWith(call);
      return;
    }
    this.#begin(call);
    before.end();
  }

  end(): void {
    this.#stop();
    if (this.#client !== undefined) this.#client.end();
    else sendAnswer(this.#call.reply, refuseBare('no-stream', { allow: 'POST' }));
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller;
    if (this.#call.reply.destroyed) this.#stop();
  }

  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const decoder = decoderFor(headers['content-encoding']);
    if (status !== 200 || mediaOf(headers['content-type'] ?? '') !== 'events' || decoder === 'unknown') {
      this.#refused(status);
      controller.abort(new Error('the upstream has no stream here'));
      return;
    }
    if (decoder !== 'none') this.#decodeBy(decoder, controller);
    if (this.#client === undefined) this.#begin(this.#call);
  }

  onResponseData(controller: AnswerController, chunk: Buffer): void {
    const isRoomLeft = this.#decoder === undefined ? this.#relay(chunk) : this.#decoder.write(chunk);
    if (!isRoomLeft) controller.pause();
  }

  onResponseEnd(): void {
    this.#upstreamEnded();
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    if (this.#isUpstreamOver) return;
    this.#gateway.log.warn({ upstream: this.#call.upstream.config.name, reason: describeError(error) }, 'the upstream half of a server stream failed');
    this.#upstreamEnded();
  }

  #decoder: Transform | undefined;

  #decodeBy(decoder: Transform, controller: AnswerController): void {
    this.#decoder = decoder;
    const stop = (error: Error): void => {
      if (!controller.aborted) controller.abort(error);
    };
    decoder.on('data', (chunk: Buffer) => {
      try {
        this.#relay(chunk);
      } catch (error) {
        stop(error instanceof Error ? error : new Error(String(error)));
      }
    });
    decoder.on('drain', () => {
      controller.resume();
    });
    decoder.on('error', stop);
  }

  #relay(chunk: Buffer): boolean {
    const events = this.#splitter.push(chunk);
    if (this.#splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
    if (events === undefined) return true;
    const { principal, upstream } = this.#call;
    const scrubber = this.#gateway.scrubbers.current(principal, upstream.config.name);
    return this.#client?.write(scrubber?.events(events) ?? events) ?? true;
  }

  /** Opens the client's half. */
  #begin(call: Call): void {
    const { session, reply } = call;
    const client = new ClientStream(reply, this.#gateway.heartbeat, this.#gateway.now);
    this.#client = client;
    client.write(keepAliveComment);
    reply.on('drain', () => this.#controller?.resume());
    this.#endWith(call);
    this.#detach?.();
    if (session?.takesUrls !== true) return;
    this.#detach = this.#gateway.notices.attach(
      session.id,
      (json) => client.own(messageEvent(json)),
      (error) => { this.#gateway.log.error({ reason: describeError(error) }, 'notices could not be read'); },
    );
  }

  /** The upstream half ends with the client's, unless another client connection has taken over. */
  #endWith(call: Call): void {
    call.reply.once('close', () => {
      if (this.#call === call) this.#stop();
    });
  }

  /** The upstream has no stream: ours stays, or the client is told in the way that every client understands. */
  #refused(status: number): void {
    this.#isUpstreamOver = true;
    const { session, reply } = this.#call;
    if (status === 404 && session?.upstreamSession !== undefined) {
      this.#gateway.sessions.end(session).catch((error: unknown) => {
        this.#gateway.log.warn({ reason: describeError(error) }, 'the end of a session could not be stored');
      });
      if (this.#client === undefined) sendAnswer(reply, refuseBare('unknown-session'));
      this.end();
    } else if (this.#client === undefined) {
      sendAnswer(reply, refuseBare('no-stream', { allow: 'POST' }));
      this.#stop();
    }
  }

  #upstreamEnded(): void {
    if (this.#isUpstreamOver) return;
    this.#isUpstreamOver = true;
    if (this.#client === undefined) sendAnswer(this.#call.reply, refuseBare('unreachable'));
    this.#client?.end();
    this.#stop();
  }

  #stop(): void {
    this.#detach?.();
    this.#detach = undefined;
    this.#gateway.streams.all.delete(this);
    const { session } = this.#call;
    if (this.#isStandalone && session !== undefined && this.#gateway.streams.bySession.get(session.id) === this) this.#gateway.streams.bySession.delete(session.id);
    const wasOver = this.#isUpstreamOver;
    this.#isUpstreamOver = true;
    if (!wasOver && this.#controller?.aborted === false) this.#controller.abort(new Error('the client closed its stream'));
  }
}
