/**
 * Reads the body of a request into one piece of memory. However it comes, in one piece or in a million,
 * with a length or in chunks, it costs no more than its limit, and one that is refused is given back at
 * once, not when garbage is collected. The usual body, of one piece, is not copied.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { err, ok, type Result } from '../errors.ts';

/** A body in chunks that is larger gets memory that grows where it is, page by page, and goes back to the system. */
const firstBytes = 64 * 1024;
const stepBytes = 256 * 1024;

export type BodyFault = 'too-large' | 'broken-off';

/**
 * @param limit in bytes
 * @param done is called once: with the body, or with why there is none; the rest of a refused one is not read
 */
export function readBody(request: Readable & { readonly headers: IncomingHttpHeaders }, limit: number, done: (body: Result<Buffer, BodyFault>) => void): void {
  const told = request.headers['content-length'];
  if (told !== undefined && Number(told) > limit) {
    done(err('too-large'));
    return;
  }
  const room = createRoom(told === undefined ? limit : Number(told), told === undefined);
  let only: Buffer | undefined;
  let length = 0;

  function onData(piece: Buffer): void {
    if (length + piece.length > limit) {
      settle(err('too-large'));
      return;
    }
    if (length === 0) only = piece;
    else {
      if (only !== undefined) room.write(only, 0);
      only = undefined;
      room.write(piece, length);
    }
    length += piece.length;
  }
  function onEnd(): void {
    settle(ok(only ?? room.take(length)));
  }
  function onError(): void {
    settle(err('broken-off'));
  }
  function settle(body: Result<Buffer, BodyFault>): void {
    request.off('data', onData).off('end', onEnd).off('error', onError);
    if (!body.ok) room.giveBack();
    only = undefined;
    done(body);
  }
  request.on('data', onData).on('end', onEnd).on('error', onError);
}

/** Memory for up to `atMost` bytes; none is taken before it is needed. */
function createRoom(atMost: number, mayStaySmall: boolean) {
  let bytes: Buffer = Buffer.alloc(0);
  let growing: ArrayBuffer | undefined;

  function makeRoom(needed: number): void {
    if (growing === undefined && (!mayStaySmall || needed <= firstBytes)) {
      bytes = Buffer.allocUnsafeSlow(mayStaySmall ? Math.min(firstBytes, atMost) : atMost);
      return;
    }
    const before = growing === undefined ? bytes : undefined;
    growing ??= new ArrayBuffer(0, { maxByteLength: atMost });
    growing.resize(Math.min(atMost, Math.ceil(needed / stepBytes) * stepBytes));
    bytes = Buffer.from(growing);
    before?.copy(bytes);
  }
  return {
    write(piece: Buffer, at: number): void {
      if (at + piece.length > bytes.length) makeRoom(at + piece.length);
      piece.copy(bytes, at);
    },
    take: (length: number): Buffer => bytes.subarray(0, length),
    giveBack(): void {
      growing?.resize(0);
    },
  };
}
