/**
 * Bytes that are held until they are whole. What comes in a million pieces costs no more than what comes
 * in one: small pieces are copied together, because a piece of one byte would else keep a whole read alive.
 * Large ones are kept as they are, so that a large message is copied once, at its end.
 */
const keptBytes = 16 * 1024;
const blockBytes = 64 * 1024;
const noBytes = Buffer.alloc(0);

export class HeldBytes {
  #pieces: Buffer[] = [];
  /** Where small pieces go; only its first `#filled` bytes are held. */
  #block: Buffer = noBytes;
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.#length === 0 || isWorthKeeping(piece)) {
      this.#closeBlock();
      this.#pieces.push(piece);
    } else {
      if (this.#filled + piece.length > this.#block.length) this.#openBlock(piece.length);
      piece.copy(this.#block, this.#filled);
      this.#filled += piece.length;
    }
    this.#length += piece.length;
  }

  /** Everything that is held; nothing is, afterwards. */
  take(): Buffer {
    this.#closeBlock();
    const [first = noBytes, ...more] = this.#pieces;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [];
    this.#length = 0;
    return bytes;
  }

  /** A message that stays small takes a small block. */
  #openBlock(needed: number): void {
    this.#closeBlock();
    this.#block = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(blockBytes, 2 * this.#length)));
  }

  #closeBlock(): void {
    const held = this.#block.subarray(0, this.#filled);
    if (held.length > 0) this.#pieces.push(isWorthKeeping(held) ? held : Buffer.from(held));
    this.#block = noBytes;
    this.#filled = 0;
  }
}

/** Large, and most of the memory that it keeps alive. */
function isWorthKeeping(piece: Buffer): boolean {
  return piece.length >= keptBytes && 2 * piece.length >= piece.buffer.byteLength;
}
