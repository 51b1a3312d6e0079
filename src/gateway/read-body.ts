/**
 * Reads the body of a request into one piece of memory. However it comes, in one piece or in a million,
 * with a length or in chunks, it costs no more than its limit, and one that is refused is given back at
 * once, not when garbage is collected. The usual body, of one piece, is not copied.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A body in chunks gets this much first, and when it is larger, room for all that it may become: what is not written takes no memory. */
const firstBytes = 256 * 1024;

/** Stands for the status that the client is told. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  readonly statusCode: 400 | 413;

  constructor(statusCode: 400 | 413, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/**
 * @param limit in bytes
 * @param done is called once: with the body, or with why there is none; the rest of a refused one is not read
 */
export function readBody(request: Readable & { readonly headers: IncomingHttpHeaders }, limit: number, done: (error: Error | null, body?: Buffer) => void): void {
  const told = request.headers['content-length'];
  const atMost = told === undefined ? limit : Number(told);
  if (atMost > limit) {
    done(tooLarge());
    return;
  }
  let body: Buffer | undefined;
  let length = 0;
  let isOwn = false;

  function onData(piece: Buffer): void {
    const needed = length + piece.length;
    if (needed > limit) {
      settle(tooLarge());
      return;
    }
    if (body === undefined) body = piece;
    else {
      if (!isOwn || needed > body.length) body = enlarge(body, needed);
      piece.copy(body, length);
    }
    length = needed;
  }
  function enlarge(before: Buffer, needed: number): Buffer {
    const larger = Buffer.allocUnsafeSlow(told === undefined && needed <= firstBytes ? Math.min(firstBytes, atMost) : Math.max(needed, atMost));
    before.copy(larger, 0, 0, length);
    if (isOwn) giveBack(before);
    isOwn = true;
    return larger;
  }
  function onEnd(): void {
    settle(null, body?.subarray(0, length) ?? Buffer.alloc(0));
  }
  function onError(): void {
    settle(new UnreadableBody(400, 'the body broke off'));
  }
  function settle(error: Error | null, whole?: Buffer): void {
    request.off('data', onData).off('end', onEnd).off('error', onError);
    if (error !== null && isOwn && body !== undefined) giveBack(body);
    body = undefined;
    done(error, whole);
  }
  request.on('data', onData).on('end', onEnd).on('error', onError);
}

function tooLarge(): UnreadableBody {
  return new UnreadableBody(413, 'the body is too large');
}

/** Only of memory that nothing else lies in. */
function giveBack({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
