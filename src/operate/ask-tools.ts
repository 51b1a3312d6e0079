/**
 * Asks an upstream for its tools, as a client without anybody's credentials would: a short session of its
 * own with the operator's headers, all pages of `tools/list`, then the end of the session (MCP 2025-11-25,
 * server/tools). Whoever does not let such a client in is said to refuse, which is no fault of the file's.
 */
import type { ProtectedUpstream } from '../gateway/protected-upstream.ts';
import { endOwnSession, openOwnSession, postOwn } from '../gateway/own-session.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';

/** A tool, as far as commands read it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  /** Arguments that its schema requires. */
  readonly required: readonly string[];
}

export type AskedTools =
  | { readonly kind: 'listed'; readonly tools: readonly ListedTool[] }
  /** It answered, but not with tools: the status, or what it said. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly reason: string };

const mostPages = 100;

const greeting: JsonObject = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'elicitgate', version: '1' } };

/** @param limitMs for each request */
export async function askTools(upstream: ProtectedUpstream, limitMs: number): Promise<AskedTools> {
  const side = { upstream, held: [], limitMs };
  const opened = await openOwnSession(side, greeting);
  if (!opened.ok) return typeof opened.error === 'string' ? unreachable(opened.error, limitMs) : refused(opened.error);
  const session = opened.value;
  const tools: ListedTool[] = [];
  let cursor: unknown;
  try {
    for (let page = 0; page < mostPages; page += 1) {
      const answer = await postOwn(side, session, { jsonrpc: '2.0', id: `elicitgate-tools-${page}`, method: 'tools/list', params: cursor === undefined ? {} : { cursor } });
      if (!answer.ok) return unreachable(answer.error, limitMs);
      const result = answer.value.message?.['result'];
      if (!isObject(result) || !Array.isArray(result['tools'])) return refused(answer.value);
      tools.push(...toolsIn(result['tools']));
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string') return { kind: 'listed', tools };
    }
    return { kind: 'refused', reason: `a list of tools that goes on after ${mostPages} pages` };
  } finally {
    await endOwnSession(side, session);
  }
}

/** @param list an upstream's or a catalogue's; entries without a name are left out */
export function toolsIn(list: readonly unknown[]): readonly ListedTool[] {
  return list.flatMap((tool) => {
    if (!isObject(tool) || typeof tool['name'] !== 'string') return [];
    const { name, description, inputSchema } = tool;
    const required = isObject(inputSchema) && Array.isArray(inputSchema['required']) ? inputSchema['required'].filter((key) => typeof key === 'string') : [];
    return [{ name, required, ...(typeof description === 'string' ? { description } : {}) }];
  });
}

/** A name that somebody else chose, safe for a terminal and a file. */
export function shown(name: string): string {
  return /^[\w./:@-]{1,128}$/.test(name) ? name : JSON.stringify(name.slice(0, 128)).replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function unreachable(failure: 'timeout' | 'unreachable', limitMs: number): AskedTools {
  return { kind: 'unreachable', reason: failure === 'timeout' ? `no answer within ${limitMs / 1000} s` : 'nobody answers there' };
}

function refused({ status, message }: { readonly status: number; readonly message: JsonObject | undefined }): AskedTools {
  const error = message?.['error'];
  if (status === 401 || status === 403) return { kind: 'refused', reason: `status ${status}: it shows its tools only with a credential` };
  return { kind: 'refused', reason: isObject(error) && typeof error['code'] === 'number' ? `the error ${error['code']}` : `status ${status} without what MCP answers there` };
}
