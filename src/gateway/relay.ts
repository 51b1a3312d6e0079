/**
 * The relay: one answer of the upstream on its way to the client. Bytes stream through; what must be
 * scrubbed or understood is held for one message at a time. Of the upstream's headers only the media type
 * survives. A client that hangs up leaves a legacy call running (MCP 2025-11-25, basic/transports:
 * disconnection is not cancellation), though not for ever: what nobody reads is read for as long as a call
 * may take, and no more than is held of any answer. Nothing is ever sent upstream again from here.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import type { Reason } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import type { AnswerController, AnswerHandler } from '../upstreams/upstream.ts';
import { AnswerBody, decoderFor, type BodyTaker } from './decode.ts';
import type { Heartbeat } from './heartbeat.ts';
import { discard, maxHeldBytes, type Sink } from './sinks.ts';

export type Media = 'json' | 'events' | 'other';

/** The first facts of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly media: Media;
  /** What the client is told of a JSON answer's type. */
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
  /** Nobody waits for the answer any more, but the call goes on. @returns is called when it is over */
  unheard(breakOff: () => void): () => void;
  /** Why an answer failed, for the log. */
  report(reason: Reason, error: Error): void;
}

/** A silence of the upstream that is too long, told apart from a broken connection. */
export class SilentUpstream extends Error {
  override readonly name = 'SilentUpstream';
}

/** The client is gone: before anything was sent, or so long ago that the rest is not worth reading. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export class Relay implements AnswerHandler, BodyTaker {
  readonly #reply: ServerResponse;
  readonly #plan: RelayPlan;
  readonly #heartbeat: Heartbeat;
  readonly #silenceMs: number;
  readonly #now: Clock;
  #sink: Sink | undefined;
  #body: AnswerBody | undefined;
  #controller: AnswerController | undefined;
  #stopBeat: (() => void) | undefined;
  #forget: (() => void) | undefined;
  #unheardSince: number | undefined;
  #movedAt = 0;
  #isWaiting = false;
  #isOver = false;

  /** @param silenceMs how long a begun answer may stand still, and how long it goes on when nobody waits for it */
  constructor(reply: ServerResponse, plan: RelayPlan, heartbeat: Heartbeat, silenceMs: number, now: Clock) {
    this.#reply = reply;
    this.#plan = plan;
    this.#heartbeat = heartbeat;
    this.#silenceMs = silenceMs;
    this.#now = now;
    reply.once('close', () => {
      this.#goOnUnheard();
    });
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller;
    if (this.#reply.destroyed) controller.abort(new ClientGone('the client hung up'));
  }

  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const decoder = decoderFor(headers['content-encoding']);
    if (decoder === 'unknown') throw new TypeError('the upstream compressed its answer in a way that cannot be read');
    this.#body = new AnswerBody(controller, decoder, this);
    this.#watchSilence(controller);
    this.#sink = this.#reply.destroyed ? discard(maxHeldBytes) : this.#plan.choose(readHead(status, headers, decoder === 'none'));
  }

  onResponseData(_controller: AnswerController, chunk: Buffer): void {
    this.#movedAt = this.#now();
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#body?.end();
  }

  onResponseError(_controller: AnswerController, error: Error): void {
    this.failed(error);
  }

  take(bytes: Buffer): boolean {
    if (this.#isOver) return true;
    const isRoomLeft = this.#sink?.data(bytes) ?? true;
    if (!isRoomLeft) this.#waitForClient();
    return isRoomLeft;
  }

  done(): void {
    if (this.#isOver) return;
    // What this throws comes back as a failure.
    this.#sink?.end();
    this.#close();
  }

  failed(error: Error): void {
    if (this.#isOver) return;
    this.#close();
    const reason = isTimeout(error) ? 'too-slow' : 'unreachable';
    if (!(error instanceof ClientGone)) this.#plan.report(reason, error);
    if (this.#sink === undefined) this.#plan.refuse(reason);
    else this.#sink.fail(reason);
  }

  /** A client that hung up while its answer was still being written leaves the upstream's call to its end. */
  #goOnUnheard(): void {
    const controller = this.#controller;
    if (this.#isOver || controller === undefined) return;
    this.#unheardSince = this.#now();
    if (this.#sink !== undefined && !this.#reply.writableEnded) this.#sink = discard(maxHeldBytes);
    this.#forget = this.#plan.unheard(() => {
      controller.abort(new ClientGone('too many calls that nobody waits for'));
    });
  }

  /** Nothing is read until the client has room again, or is gone and needs none. */
  #waitForClient(): void {
    this.#isWaiting = true;
    const goOn = (): void => {
      this.#reply.off('drain', goOn);
      this.#reply.off('close', goOn);
      this.#isWaiting = false;
      this.#movedAt = this.#now();
      this.#body?.resume();
    };
    this.#reply.on('drain', goOn);
    this.#reply.on('close', goOn);
  }

  #watchSilence(controller: AnswerController): void {
    this.#movedAt = this.#now();
    this.#stopBeat = this.#heartbeat.add(() => {
      if (this.#unheardSince !== undefined && this.#now() - this.#unheardSince > this.#silenceMs) controller.abort(new ClientGone('nobody waits for this call'));
      if (this.#now() - this.#movedAt <= this.#silenceMs) return;
      // A client that reads nothing for so long counts as gone; the silence is not the upstream's.
      if (this.#isWaiting) this.#reply.destroy();
      else controller.abort(new SilentUpstream('the upstream fell silent'));
    });
  }

  #close(): void {
    this.#isOver = true;
    this.#stopBeat?.();
    this.#forget?.();
    this.#body?.close();
  }
}

function isTimeout(error: Error): boolean {
  return error instanceof SilentUpstream || ('code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT');
}

/** Goes on as it came; any other parameter could repeat what was sent upstream. */
const usualJson = /^application\/json(?: *; *charset="?(?:utf-?8|us-ascii|iso-8859-1)"?)?$/i;

function readHead(status: number, headers: IncomingHttpHeaders, isPlain: boolean): AnswerHead {
  const contentType = mediaHeader(headers['content-type']);
  const length = Number(headers['content-length']);
  return {
    status,
    media: mediaOf(contentType),
    contentType: usualJson.test(contentType) ? contentType : 'application/json',
    length: isPlain && headers['content-length'] !== undefined && Number.isSafeInteger(length) ? length : undefined,
    headers,
  };
}

/** What Node would refuse to write again names no media type. */
function mediaHeader(value: string | undefined): string {
  return value !== undefined && /^[\t\x20-\x7e]*$/.test(value) ? value : '';
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
