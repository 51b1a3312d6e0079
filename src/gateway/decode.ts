/** Undoes what an upstream compressed, whether it was asked to or not (RFC 9110 §8.4); more than one coding, or an unknown one, is not undone. */
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Transform } from 'node:stream';

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
