/**
 * The relay: one answer of the upstream on its way to the client. Bytes stream through; what must be
 * scrubbed or understood is held for one message at a time. Of the upstream's headers only the media type
 * survives. A client that hangs up leaves a legacy call running (MCP 2025-11-25, basic/transports:
 * disconnection is not cancellation). Nothing is ever sent upstream again from here.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { MIMEType } from 'node:util';
import type { Reason } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import type { AnswerController, AnswerHandler } from '../upstreams/upstream.ts';
import { decoderFor } from './decode.ts';
import type { Heartbeat } from './heartbeat.ts';
import { discard, type Sink } from './sinks.ts';

export type Media = 'json' | 'events' | 'other';

/** The first facts of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly media: Media;
  readonly contentType: string;
  /** Length of the decoded bytes, where it is known. */
  readonly length: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface RelayPlan {
  /** Decides where the answer goes, once its head is there. */
  choose(head: AnswerHead): Sink;
  /** The upstream gave no answer at all. */
  refuse(reason: Reason): void;
  /** Why an answer failed, for the log. */
  report(reason: Reason, error: Error): void;
}

/** A silence of the upstream that is too long, told apart from a broken connection. */
export class SilentUpstream extends Error {
  override readonly name = 'SilentUpstream';
}

/** The client is gone before anything was sent. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export class Relay implements AnswerHandler {
  readonly #reply: ServerResponse;
  readonly #plan: RelayPlan;
  readonly #heartbeat: Heartbeat;
  readonly #silenceMs: number;
  #sink: Sink | undefined;
  #decoder: Transform | undefined;
  #stopBeat: (() => void) | undefined;
  readonly #now: Clock;
  #movedAt = 0;
  #isOver = false;
  #isAbandoned = false;

  /** @param silenceMs how long a begun answer may stand still */
  constructor(reply: ServerResponse, plan: RelayPlan, heartbeat: Heartbeat, silenceMs: number, now: Clock) {
    this.#reply = reply;
    this.#plan = plan;
    this.#heartbeat = heartbeat;
    this.#silenceMs = silenceMs;
    this.#now = now;
  }

  onRequestStart(controller: AnswerController): void {
    if (this.#reply.destroyed) controller.abort(new ClientGone('the client hung up'));
  }

  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const decoder = decoderFor(headers['content-encoding']);
    if (decoder === 'unknown') throw new TypeError('the upstream compressed its answer in a way that cannot be read');
    this.#sink = this.#plan.choose(readHead(status, headers, decoder === 'none'));
    if (decoder !== 'none') this.#decodeBy(decoder, controller);
    this.#watchSilence(controller);
  }

  onResponseData(controller: AnswerController, chunk: Buffer): void {
    this.#movedAt = this.#now();
    if (this.#decoder !== undefined) {
      if (!this.#decoder.write(chunk)) controller.pause();
    } else if (!this.#take(chunk)) {
      this.#wait(controller);
    }
  }

  onResponseEnd(): void {
    if (this.#decoder === undefined) this.#finish();
    else this.#decoder.end();
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    this.#fail(error);
  }

  #take(chunk: Buffer): boolean {
    if (!this.#isAbandoned && this.#reply.destroyed && !this.#reply.writableEnded) {
      this.#isAbandoned = true;
      this.#sink = discard();
    }
    return this.#sink?.data(chunk) ?? true;
  }

  #decodeBy(decoder: Transform, controller: AnswerController): void {
    this.#decoder = decoder;
    const stop = (error: Error): void => {
      if (!controller.aborted) controller.abort(error);
      this.#fail(error);
    };
    decoder.on('data', (chunk: Buffer) => {
      let isRoomLeft = true;
      try {
        isRoomLeft = this.#take(chunk);
      } catch (error) {
        stop(error instanceof Error ? error : new Error(String(error)));
      }
      if (!isRoomLeft) {
        decoder.pause();
        this.#wait(controller);
      }
    });
    decoder.on('drain', () => {
      controller.resume();
    });
    decoder.once('end', () => {
      this.#finish();
    });
    decoder.once('error', stop);
  }

  /** Stops reading until the client has room again, or is gone and needs none. */
  #wait(controller: AnswerController): void {
    controller.pause();
    const goOn = (): void => {
      this.#reply.off('drain', goOn);
      this.#reply.off('close', goOn);
      this.#movedAt = this.#now();
      this.#decoder?.resume();
      controller.resume();
    };
    this.#reply.on('drain', goOn);
    this.#reply.on('close', goOn);
  }

  #watchSilence(controller: AnswerController): void {
    this.#movedAt = this.#now();
    this.#stopBeat = this.#heartbeat.add(() => {
      if (this.#now() - this.#movedAt > this.#silenceMs) controller.abort(new SilentUpstream('the upstream fell silent'));
    });
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#close();
    this.#sink?.end();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    const reason = isTimeout(error) ? 'too-slow' : 'unreachable';
    if (!(error instanceof ClientGone)) this.#plan.report(reason, error);
    if (this.#sink === undefined) this.#plan.refuse(reason);
    else this.#sink.fail(reason);
  }

  #close(): void {
    this.#isOver = true;
    this.#stopBeat?.();
  }
}

function isTimeout(error: Error): boolean {
  return error instanceof SilentUpstream || ('code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT');
}

function readHead(status: number, headers: IncomingHttpHeaders, isPlain: boolean): AnswerHead {
  const contentType = headers['content-type'] ?? '';
  const length = Number(headers['content-length']);
  return {
    status,
    media: mediaOf(contentType),
    contentType,
    length: isPlain && headers['content-length'] !== undefined && Number.isSafeInteger(length) ? length : undefined,
    headers,
  };
}

/** Media types are parsed, not compared (RFC 9110 §8.3.1). */
export function mediaOf(contentType: string): Media {
  if (contentType === 'application/json') return 'json';
  if (contentType === 'text/event-stream') return 'events';
  let essence: string;
  try {
    essence = new MIMEType(contentType).essence;
  } catch {
    return 'other';
  }
  return essence === 'application/json' ? 'json' : essence === 'text/event-stream' ? 'events' : 'other';
}
