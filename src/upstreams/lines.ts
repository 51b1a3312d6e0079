/** Cuts bytes into lines. A line that is longer than the bound is not kept: whoever sends it has gone wrong. */
import { HeldBytes } from '../protocol/held-bytes.ts';

const lf = 0x0a;

export class LineSplitter {
  readonly #held = new HeldBytes();
  readonly #maxBytes: number;
  readonly #line: (text: string) => void;

  /** @param line gets each line without its end, empty ones left out */
  constructor(maxBytes: number, line: (text: string) => void) {
    this.#maxBytes = maxBytes;
    this.#line = line;
  }

  /** @returns false when a line has grown beyond the bound; what was held of it is gone */
  push(chunk: Buffer): boolean {
    let rest = chunk;
    for (let at = rest.indexOf(lf); at !== -1; at = rest.indexOf(lf)) {
      if (this.#held.length + at > this.#maxBytes) return this.#tooLong();
      this.#held.push(rest.subarray(0, at));
      this.#emit();
      rest = rest.subarray(at + 1);
    }
    if (this.#held.length + rest.length > this.#maxBytes) return this.#tooLong();
    if (rest.length > 0) this.#held.push(rest);
    return true;
  }

  /** What stands after the last line's end. */
  end(): void {
    this.#emit();
  }

  #emit(): void {
    const text = this.#held.take().toString('utf8').trim();
    if (text !== '') this.#line(text);
  }

  #tooLong(): false {
    this.#held.take();
    return false;
  }
}
