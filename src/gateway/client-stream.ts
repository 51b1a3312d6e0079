/**
 * The client's half of an event stream: upstream bytes as they come, and between two events comments that
 * keep it alive and events of ours, which carry no id. A first byte leaves at once, so that no proxy on the
 * way waits for one.
 */
import type { ServerResponse } from 'node:http';
import { EventBoundary, keepAliveComment } from '../protocol/sse.ts';
import type { Clock } from '../stores/store.ts';
import type { Heartbeat } from './heartbeat.ts';

const keepAliveMs = 15_000;

export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export class ClientStream {
  readonly #reply: ServerResponse;
  readonly #now: Clock;
  readonly #boundary = new EventBoundary();
  readonly #waiting: Buffer[] = [];
  readonly #stopBeat: () => void;
  #lastWriteAt: number;

  /** @param headers more headers of the answer, the session's on an `initialize` */
  constructor(reply: ServerResponse, heartbeat: Heartbeat, now: Clock, headers: Readonly<Record<string, string>> = {}) {
    this.#reply = reply;
    this.#now = now;
    this.#lastWriteAt = now();
    reply.writeHead(200, { ...eventStreamHeaders, ...headers });
    reply.flushHeaders();
    this.#stopBeat = heartbeat.add(() => {
      this.#beat();
    });
    reply.once('close', this.#stopBeat);
  }

  get isOpen(): boolean {
    return !this.#reply.writableEnded && !this.#reply.destroyed;
  }

  get isBetweenEvents(): boolean {
    return this.#boundary.isBetween;
  }

  /** Upstream bytes. False: wait for `drain` before more. */
  write(bytes: Buffer): boolean {
    this.#boundary.push(bytes);
    const isRoomLeft = this.#send(bytes);
    this.#flushOwn();
    return isRoomLeft;
  }

  /** An event of ours: now, or as soon as the upstream's event has ended. False: the stream is closed. */
  own(event: Buffer): boolean {
    if (!this.isOpen) return false;
    this.#waiting.push(event);
    this.#flushOwn();
    return true;
  }

  end(): void {
    this.#stopBeat();
    if (this.isOpen) this.#reply.end();
  }

  /** Cuts the connection where no clean end is possible any more. */
  destroy(): void {
    this.#stopBeat();
    this.#reply.destroy();
  }

  #flushOwn(): void {
    while (this.#boundary.isBetween) {
      const event = this.#waiting.shift();
      if (event === undefined) return;
      this.#send(event);
    }
  }

  #beat(): void {
    if (this.isOpen && this.#boundary.isBetween && this.#now() - this.#lastWriteAt >= keepAliveMs) this.#send(keepAliveComment);
  }

  #send(bytes: Buffer): boolean {
    this.#lastWriteAt = this.#now();
    return this.isOpen ? this.#reply.write(bytes) : true;
  }
}
