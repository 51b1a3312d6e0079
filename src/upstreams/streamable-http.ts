/**
 * An upstream over Streamable HTTP. Connections are kept and never shared by two requests at once; their
 * number has no bound, because a bounded pool starves behind open streams. Redirects are not followed,
 * certificates are verified, and nothing is sent twice.
 */
import { Pool } from 'undici';
import type { Certificates } from './certificates.ts';
import { withQuery } from './query.ts';
import type { Upstream } from './upstream.ts';

const connectTimeoutMs = 10_000;
const maxHeaderBytes = 64 * 1024;

/** @param timeoutMs how long the answer's headers may take; streams that follow may be silent for ever */
export function createStreamableHttpUpstream(url: URL, timeoutMs: number, certificates: Certificates = {}): Upstream {
  const path = url.pathname + url.search;
  const pool = new Pool(url.origin, {
    allowH2: false,
    pipelining: 1,
    bodyTimeout: 0,
    headersTimeout: timeoutMs,
    maxHeaderSize: maxHeaderBytes,
    connect: { timeout: connectTimeoutMs, ...certificates },
  });
  return {
    send(request, handler) {
      pool.dispatch({ path: withQuery(path, request.query), method: request.method, headers: request.headers, body: request.body ?? null }, handler);
    },
    async close() {
      await pool.destroy();
    },
  };
}
