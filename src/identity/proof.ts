/**
 * Proof that a caller is the process which this server runs for. On a machine of several people anybody can
 * reach a loopback port, so where the only client is known, it alone is served (RFC 6750 §2.1).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { err } from '../errors.ts';
import type { IdentifyCaller } from './caller.ts';

/** @param proof what the client says as its bearer token; absent: nothing is asked for beside what `identify` wants */
export function withProof(identify: IdentifyCaller, proof: string | undefined): IdentifyCaller {
  if (proof === undefined) return identify;
  const expected = digest(`Bearer ${proof}`);
  return (request, audiences) => (timingSafeEqual(digest(request.raw.headers.authorization ?? ''), expected) ? identify(request, audiences) : err({ reason: 'unauthorized' }));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
