/**
 * Both ends of the modern era (2026-07-28) without an SDK: requests with their metadata in body and headers,
 * and a behaviour for the recorder that answers them. Tools: `free` and `paid` answer with their names,
 * `echo` with the request's params as text, `rounds` asks once for input of its own before it answers.
 */
import { callOf, text } from './mcp-server.ts';
import { post, urlMode, type Answer, type SentHeaders } from './mcp-client.ts';
import { json, type Behaviour } from './recorder.ts';

export const modernVersion = '2026-07-28';

export interface ModernOptions {
  /** Default: URL mode. */
  readonly capabilities?: unknown;
  readonly version?: string;
  readonly id?: unknown;
  /** Beside `name` and `arguments`. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly headers?: SentHeaders;
}

export interface InputRequest {
  readonly method: string;
  readonly params: { readonly mode: string; readonly url: string; readonly message: string };
}

/** As far as tests read it. */
export interface ModernResult {
  readonly resultType?: string;
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

export function modernRequest(method: string, params: Readonly<Record<string, unknown>>, { capabilities = urlMode, version = modernVersion, id = 1 }: ModernOptions = {}): object {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientInfo': { name: 'modern-client', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

/** Headers that say what such a request says. */
export function modernHeaders(method: string, name?: string, version = modernVersion): SentHeaders {
  return { 'MCP-Protocol-Version': version, 'Mcp-Method': method, ...(name === undefined ? {} : { 'Mcp-Name': name }) };
}

export function modernCall(url: string, tool: string, args: unknown = {}, options: ModernOptions = {}): Promise<Answer> {
  const request = modernRequest('tools/call', { name: tool, arguments: args, ...options.params }, options);
  return post(url, request, { ...modernHeaders('tools/call', tool, options.version), ...options.headers });
}

export function resultOf(answer: Answer): ModernResult {
  return (answer.message.result ?? {});
}

/** The modern server; a legacy request gets a 400. */
export function modernServer(more: { readonly cacheScope?: string } = {}): Behaviour {
  return (request) => {
    const call = callOf(request);
    if (call?.id === undefined) return { status: request.method === 'POST' ? 202 : 405 };
    if (request.header('mcp-protocol-version') !== modernVersion) return { status: 400 };
    const answer = (result: unknown) => json({ jsonrpc: '2.0', id: call.id, result: { resultType: 'complete', ...more, ...(result as object) } });
    if (call.method === 'server/discover') return answer({ supportedVersions: [modernVersion, '2025-11-25', '2031-01-01'], capabilities: { tools: {} } });
    if (call.method !== 'tools/call') return { status: 404, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'Method not found' } }) };
    const params = call.params as { readonly name?: string; readonly inputResponses?: unknown; readonly requestState?: unknown };
    if (params.name === 'rounds' && params.inputResponses === undefined) {
      return answer({ resultType: 'input_required', inputRequests: { city: { method: 'elicitation/create', params: { mode: 'form', message: 'Which city?', requestedSchema: { type: 'object', properties: {} } } } }, requestState: 'the upstream’s own' });
    }
    return answer(text(params.name === 'echo' || params.name === 'rounds' ? JSON.stringify(params) : String(params.name)));
  };
}
