/**
 * The bytes of an upstream's answer on their way to whoever takes them: what was compressed, asked for or
 * not, is undone (RFC 9110 §8.4; more than one coding, or an unknown one, is not), and the upstream is
 * held back while the taker has no room, so that a few bytes that unpack to very many never pile up.
 */
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Transform } from 'node:stream';
import type { AnswerController } from '../upstreams/upstream.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** @returns a decoder, `'none'` when the bytes are plain, `'unknown'` when they cannot be read here */
export function decoderFor(contentEncoding: string | string[] | undefined): Transform | 'none' | 'unknown' {
  if (contentEncoding === undefined || contentEncoding === '') return 'none';
  if (typeof contentEncoding !== 'string') return 'unknown';
  const coding = contentEncoding.trim().toLowerCase();
  if (coding === 'identity') return 'none';
  return Object.hasOwn(decoders, coding) ? (decoders[coding]?.() ?? 'unknown') : 'unknown';
}

/** Who takes the bytes of one answer. */
export interface BodyTaker {
  /** False: no more until `resume`. What it throws breaks the answer off. */
  take(bytes: Buffer): boolean;
  /** Every byte was taken. */
  done(): void;
  /** The bytes cannot be read any further; the upstream's half is over by then. */
  failed(error: Error): void;
}

export class AnswerBody {
  readonly #controller: AnswerController;
  readonly #decoder: Transform | undefined;
  readonly #taker: BodyTaker;
  #isHeld = false;

  constructor(controller: AnswerController, decoder: Transform | 'none', taker: BodyTaker) {
    this.#controller = controller;
    this.#taker = taker;
    if (decoder === 'none') return;
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => {
      this.#attempt(() => {
        this.#take(bytes);
      });
    });
    decoder.on('drain', () => {
      if (!this.#isHeld) controller.resume();
    });
    decoder.once('end', () => {
      this.#attempt(() => {
        taker.done();
      });
    });
    decoder.once('error', (error) => {
      this.#fail(error);
    });
  }

  /** Bytes as they came over the wire. */
  push(chunk: Buffer): void {
    if (this.#decoder === undefined) this.#take(chunk);
    else if (!this.#decoder.write(chunk)) this.#controller.pause();
  }

  /** The upstream has sent everything. */
  end(): void {
    if (this.#decoder === undefined) this.#taker.done();
    else this.#decoder.end();
  }

  /** The taker has room again. */
  resume(): void {
    this.#isHeld = false;
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain !== true) this.#controller.resume();
  }

  /** Nobody takes anything any more. */
  close(): void {
    this.#decoder?.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#taker.take(bytes)) return;
    this.#isHeld = true;
    this.#decoder?.pause();
    this.#controller.pause();
  }

  /** The decoder works on its own time, where nothing else would catch what its taker throws. */
  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    this.close();
    if (!this.#controller.aborted) this.#controller.abort(error);
    this.#taker.failed(error);
  }
}
