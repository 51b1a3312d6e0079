/**
 * One answer in the shape of HTTP, for upstreams that speak something else: status, headers and bytes go to
 * the same handler that takes an HTTP server's. A handler that has no room holds the bytes back here, up to
 * a bound; one that throws, or aborts, ends the answer.
 */
import { errorResponse, type RpcErrorBody } from '../protocol/json-rpc.ts';
import { messageEvent } from '../protocol/sse.ts';
import type { AnswerController, AnswerHandler } from './upstream.ts';

const maxHeldBytes = 32 * 1024 * 1024;

export class Exchange implements AnswerController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** Is called once, when the handler wants no more. */
  onAbort: () => void = () => undefined;
  readonly #handler: AnswerHandler;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isEnding = false;
  #isOver = false;
  #isStreaming = false;

  constructor(handler: AnswerHandler) {
    this.#handler = handler;
    this.#attempt(() => handler.onRequestStart?.(this, null));
  }

  /** Nothing more can be said. */
  get isOver(): boolean {
    return this.#isOver || this.#isEnding;
  }

  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** A whole answer without a body. */
  status(status: number): void {
    this.#whole(status, {}, Buffer.alloc(0));
  }

  /** A whole answer of one JSON-RPC message. */
  json(status: number, message: string, headers: Readonly<Record<string, string>> = {}): void {
    const body = Buffer.from(message);
    this.#whole(status, { ...headers, 'content-type': 'application/json', 'content-length': String(body.length) }, body);
  }

  /** @param idText the request that is refused; absent for what is no request */
  refuse(status: number, idText: string | undefined, error: RpcErrorBody): void {
    if (this.#isStreaming) {
      this.event(errorResponse(idText, error));
      this.end();
    } else this.json(status, errorResponse(idText, error));
  }

  /** One message on the answer's event stream, which begins with the first. */
  event(message: string): void {
    this.stream();
    if (!this.isOver) this.#data(messageEvent(message));
  }

  /** Begins an event stream. */
  stream(): void {
    if (this.isOver || this.#isStreaming) return;
    this.#isStreaming = true;
    this.#attempt(() => this.#handler.onResponseStart?.(this, 200, { 'content-type': 'text/event-stream' }));
  }

  end(): void {
    if (this.isOver) return;
    this.#isEnding = true;
    this.#flush();
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held = [];
    this.#handler.onResponseError?.(this, error);
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#held = [];
    if (wasOver) return;
    // As with a socket, whoever aborts hears of it later.
    queueMicrotask(() => {
      this.onAbort();
      this.#handler.onResponseError?.(this, reason);
    });
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#flush();
  }

  #whole(status: number, headers: Record<string, string>, body: Buffer): void {
    if (this.isOver) return;
    this.#attempt(() => this.#handler.onResponseStart?.(this, status, headers));
    if (body.length > 0) this.#data(body);
    this.end();
  }

  #data(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    this.#flush();
    if (this.#heldBytes > maxHeldBytes && this.#held.length > 1) this.abort(new RangeError('the client does not read its stream'));
  }

  #flush(): void {
    while (!this.paused && !this.#isOver) {
      const bytes = this.#held.shift();
      if (bytes === undefined) break;
      this.#heldBytes -= bytes.length;
      this.#attempt(() => this.#handler.onResponseData?.(this, bytes));
    }
    if (!this.#isEnding || this.#isOver || this.#held.length > 0) return;
    this.#attempt(() => this.#handler.onResponseEnd?.(this, {}));
    this.#isOver = true;
  }

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
