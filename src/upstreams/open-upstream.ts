/** From the file to the adapter: how each upstream is spoken to. */
import type { Upstream as UpstreamConfig } from '../config/config.ts';
import { readCertificates } from './certificates.ts';
import { createSseUpstream } from './sse.ts';
import { createStdioUpstream, type StdioEdge } from './stdio.ts';
import { createStreamableHttpUpstream } from './streamable-http.ts';
import type { Upstream } from './upstream.ts';

export function openUpstream(upstream: UpstreamConfig, edge: StdioEdge): Upstream {
  switch (upstream.transport) {
    case 'streamable-http':
      return createStreamableHttpUpstream(upstream.url, upstream.timeout, readCertificates(`upstreams.${upstream.name}.tls`, upstream.tls ?? {}));
    case 'sse':
      return createSseUpstream(upstream.url, upstream.timeout, readCertificates(`upstreams.${upstream.name}.tls`, upstream.tls ?? {}), edge.report);
    case 'stdio':
      return createStdioUpstream(upstream, edge);
  }
}
