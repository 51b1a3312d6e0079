/**
 * A request of the proxy's own to an upstream: one message out, the answer to it back, within a time. The
 * caller learns whether nobody answered or nobody answered in time, and nothing of what was sent is kept.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { err, ok, type Result } from '../errors.ts';
import type { JsonObject } from '../protocol/json-rpc.ts';
import { HeldBytes } from '../protocol/held-bytes.ts';
import { EventSplitter } from '../protocol/sse.ts';
import type { AnswerController, AnswerHandler, Upstream, UpstreamRequest } from '../upstreams/upstream.ts';
import { AnswerBody, decoderFor, type BodyTaker } from './decode.ts';
import { mediaOf } from './relay.ts';
import { isResponse, messageIn, messagesIn } from './upstream-messages.ts';

export type OwnFailure = 'timeout' | 'unreachable';

export interface OwnAnswer {
  readonly status: number;
  /** What the upstream calls the session that it opened. */
  readonly session: string | undefined;
  /** The JSON-RPC answer, where there was one. */
  readonly message: JsonObject | undefined;
}

const maxAnswerBytes = 4 * 1024 * 1024;

/** @param limitMs for the whole answer */
export function askUpstream(adapter: Upstream, request: UpstreamRequest, limitMs: number): Promise<Result<OwnAnswer, OwnFailure>> {
  return new Promise((settle) => {
    adapter.send(request, new OwnRequest(settle, limitMs));
  });
}

class OwnRequest implements AnswerHandler, BodyTaker {
  readonly #settle: (outcome: Result<OwnAnswer, OwnFailure>) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #held = new HeldBytes();
  readonly #splitter = new EventSplitter();
  #controller: AnswerController | undefined;
  #body: AnswerBody | undefined;
  #status = 0;
  #session: string | undefined;
  #isStream = false;
  #isOver = false;

  constructor(settle: (outcome: Result<OwnAnswer, OwnFailure>) => void, limitMs: number) {
    this.#settle = settle;
    this.#timer = setTimeout(() => { this.#finish(err('timeout')); }, limitMs);
  }

  onRequestStart(controller: AnswerController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('this took too long'));
  }

  onResponseStart(controller: AnswerController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const decoder = decoderFor(headers['content-encoding']);
    if (decoder === 'unknown') throw new TypeError('the upstream compressed its answer in a way that cannot be read');
    const session = headers['mcp-session-id'];
    this.#status = status;
    this.#session = typeof session === 'string' ? session : undefined;
    this.#isStream = mediaOf(headers['content-type'] ?? '') === 'events';
    this.#body = new AnswerBody(controller, decoder, this);
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
    if (this.#isOver) return true;
    if (!this.#isStream) this.#held.push(bytes);
    else this.#look(this.#splitter.push(bytes));
    if (this.#held.length + this.#splitter.pendingBytes > maxAnswerBytes) this.#finish(err('unreachable'));
    return true;
  }

  done(): void {
    if (this.#isStream) this.#look(this.#splitter.rest());
    else this.#answer(messageIn(this.#held.take().toString()));
    this.#answer(undefined);
  }

  failed(error: Error): void {
    this.#finish(err('code' in error && error.code === 'UND_ERR_HEADERS_TIMEOUT' ? 'timeout' : 'unreachable'));
  }

  #look(events: Buffer | undefined): void {
    const message = events === undefined ? undefined : messagesIn(events).find(isResponse);
    if (message !== undefined) this.#answer(message);
  }

  #answer(message: JsonObject | undefined): void {
    this.#finish(ok({ status: this.#status, session: this.#session, message }));
  }

  #finish(outcome: Result<OwnAnswer, OwnFailure>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#settle(outcome);
    // What follows the answer is nobody's, and a connection that is not over is not used again.
    if (this.#controller?.aborted === false) this.#controller.abort(new Error('the rest of this answer says nothing'));
    this.#body?.close();
  }
}
