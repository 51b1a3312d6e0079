/** Where a secret goes, as one text: when that changes in the file, the person is asked again. */
import { createHash } from 'node:crypto';
import type { Upstream } from '../config/config.ts';

/** @returns the origin of a server; for a program a digest of how it is run, because another one is another party */
export function destinationOf(upstream: Upstream): string {
  if (upstream.transport !== 'stdio') return upstream.url.origin;
  return `stdio:${createHash('sha256').update(JSON.stringify([upstream.command, upstream.args])).digest('base64url').slice(0, 22)}`;
}
