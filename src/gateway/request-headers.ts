/**
 * Which headers of a client's request go upstream. An allow-list, read from the raw header list, so that
 * no other spelling of a name slips through: a name with `_` never does, because many servers read it as
 * `-`. Authorization, Cookie and whatever a credential injects are never among them.
 */
import { err, ok, type Result } from '../errors.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';

const always: ReadonlySet<string> = new Set(['accept', 'content-type', 'last-event-id', 'traceparent', 'tracestate', 'baggage']);
/** Of these a second value makes the request ambiguous. */
const single: ReadonlySet<string> = new Set(['content-type', 'last-event-id', 'traceparent', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name']);
/** Set by the session step, never copied. */
const ours: ReadonlySet<string> = new Set(['mcp-session-id', 'mcp-protocol-version']);

/**
 * @param rawHeaders Node's raw list: name, value, name, value …
 * @returns the list for upstream, in lower case and without the session's headers
 */
export function forwardedHeaders(rawHeaders: readonly string[], upstream: ProtectedUpstream): Result<string[], 'repeated-header'> {
  const forwarded: string[] = [];
  const seen = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (single.has(name)) {
      if (seen.has(name)) return err('repeated-header');
      seen.add(name);
    }
    if (ours.has(name) || name.includes('_')) continue;
    if (always.has(name) || name.startsWith('mcp-') || upstream.forwardHeaders.has(name)) forwarded.push(name, rawHeaders[at + 1] ?? '');
  }
  return ok(forwarded);
}

/** What one request carries of the operator's and of the person's. Our own accept-encoding comes last. */
export function injectedHeaders(rendered: readonly string[], upstream: ProtectedUpstream): string[] {
  const own = rendered.length > 0 ? rendered : upstream.operatorHeaders;
  return [...own, 'accept-encoding', 'identity'];
}
