/**
 * Which headers of a client's request go upstream. An allow-list, read from the raw header list, so that
 * no other spelling of a name slips through: of MCP's own names none with `_` does, because many servers
 * read it as `-`. Authorization, Cookie and whatever the proxy itself puts in are never among them.
 */
import { err, ok, type Result } from '../errors.ts';

const always = ['accept', 'last-event-id', 'traceparent', 'tracestate', 'baggage'];
/** Of these a second value makes the request ambiguous. */
const single: ReadonlySet<string> = new Set(['host', 'content-type', 'last-event-id', 'traceparent', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name']);
/** Set by the session step, never copied. */
const ours: ReadonlySet<string> = new Set(['mcp-session-id', 'mcp-protocol-version']);

/**
 * @param extra names that the operator lets through
 * @param own names that credentials or the operator set, and a client therefore cannot
 * @returns names of client headers that go along, in lower case, beside MCP's own
 */
export function passingHeaders(extra: readonly string[], own: readonly string[]): ReadonlySet<string> {
  const taken = new Set(own.map(canonical));
  return new Set([...always, ...extra.map((name) => name.toLowerCase())].filter((name) => !taken.has(canonical(name))));
}

/**
 * @param rawHeaders Node's raw list: name, value, name, value …
 * @param passing from `passingHeaders`
 * @returns the list for upstream, in lower case and without the session's headers
 */
export function forwardedHeaders(rawHeaders: readonly string[], passing: ReadonlySet<string>): Result<string[], 'repeated-header'> {
  const forwarded: string[] = [];
  const seen = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (single.has(name)) {
      if (seen.has(name)) return err('repeated-header');
      seen.add(name);
    }
    const isMcp = name.startsWith('mcp-') && !name.includes('_') && !ours.has(name);
    if (isMcp || passing.has(name)) forwarded.push(name, rawHeaders[at + 1] ?? '');
  }
  return ok(forwarded);
}

/** What one request carries of the operator's or of the person's. Our own accept-encoding comes last. */
export function injectedHeaders(rendered: readonly string[], operatorHeaders: readonly string[]): string[] {
  return [...(rendered.length > 0 ? rendered : operatorHeaders), 'accept-encoding', 'identity'];
}

function canonical(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
