/**
 * Behaviours for the recorder: a small MCP server of the legacy era, in the variants that upstreams come
 * in. Tools: `echo` answers with its arguments and the request's headers as JSON text, `free` and `paid`
 * with their own names. Numbers keep their digits, in ids and arguments.
 *
 * A test that wants one thing otherwise wraps a behaviour:
 *
 *     const server = mcpServer();
 *     upstream.setBehaviour((request) => (callOf(request)?.method === 'ping' ? { status: 500 } : server(request)));
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { json, sse, type Behaviour, type RecordedRequest, type Reply, type Step } from './recorder.ts';

export interface McpServerOptions {
  /** true (default): gives an `Mcp-Session-Id`; 404 to an id that it does not know, 400 to none. */
  readonly sessions?: boolean;
  /** How requests are answered; default `json`. */
  readonly answers?: 'json' | 'sse';
  /** What a GET gets: an open stream, 200 with JSON, or the status named; default 405. */
  readonly get?: 'open' | 'json' | number;
  /** Played on every open GET stream, which then stays open. */
  readonly events?: readonly Step[];
  /** Compresses answers although nobody asked. */
  readonly encoding?: keyof typeof compress;
  /** Added to every answer, e.g. Set-Cookie. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Tools beside the three above, or instead of them: name → result. */
  readonly tools?: Readonly<Record<string, Tool>>;
}

/** A JSON-RPC request or notification, as far as the presets read it. */
export interface Call {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown; readonly protocolVersion?: string };
}

export type Tool = (call: Call, request: RecordedRequest) => unknown;

const compress = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };

/** What TypeScript's library does not describe yet. */
const exactJson = JSON as unknown as {
  readonly parse: (text: string, reviver: typeof keepDigits) => unknown;
  readonly rawJSON: (text: string) => unknown;
};

const builtInTools: Readonly<Record<string, Tool>> = {
  echo: (call, request) => text(JSON.stringify({ arguments: call.params?.arguments, headers: request.rawHeaders })),
  free: () => text('free'),
  paid: () => text('paid'),
};

/** The call in a request's body; undefined when there is none. Numbers are kept as they are written. */
export function callOf(request: RecordedRequest): Call | undefined {
  try {
    const message: unknown = exactJson.parse(request.body.toString(), keepDigits);
    return typeof message === 'object' && message !== null && 'method' in message ? (message as Call) : undefined;
  } catch {
    return undefined;
  }
}

/** A tool result with one text. */
export function text(value: string): unknown {
  return { content: [{ type: 'text', text: value }] };
}

/** A legacy MCP server; without options stateful, with JSON answers and without a GET stream. */
export function mcpServer(options: McpServerOptions = {}): Behaviour {
  const tools = { ...builtInTools, ...options.tools };
  const isStateful = options.sessions !== false;
  const sessions = new Set<string>();
  let opened = 0;

  const post = (call: Call | undefined, request: RecordedRequest): Reply => {
    if (call?.id === undefined) return { status: 202 };
    const answer = { jsonrpc: '2.0', id: call.id, ...outcome(call, request, tools) };
    if (call.method !== 'initialize' || !isStateful) return encode(answer, options);
    const session = `upstream-session-${(opened += 1)}`;
    sessions.add(session);
    const reply = encode(answer, options);
    return { ...reply, headers: { ...reply.headers, 'mcp-session-id': session } };
  };

  const route = (request: RecordedRequest): Reply => {
    const session = request.header('mcp-session-id');
    const call = callOf(request);
    if (session !== undefined && !sessions.has(session)) return { status: 404 };
    if (session === undefined && isStateful && call?.method !== 'initialize') return { status: 400 };
    if (request.method === 'POST') return post(call, request);
    if (request.method === 'GET') return serverStream(options);
    if (request.method !== 'DELETE' || session === undefined) return { status: 405 };
    sessions.delete(session);
    return {};
  };

  return (request) => {
    const reply = route(request);
    return { ...reply, headers: { ...reply.headers, ...options.headers } };
  };
}

function encode(message: unknown, { answers, encoding }: McpServerOptions): Reply {
  const isSse = answers === 'sse';
  const body = isSse ? `event: message\ndata: ${JSON.stringify(message)}\n\n` : JSON.stringify(message);
  const type = { 'content-type': isSse ? 'text/event-stream' : 'application/json' };
  if (encoding === undefined) return { headers: type, body };
  return { headers: { ...type, 'content-encoding': encoding }, body: compress[encoding](body) };
}

function serverStream({ get = 405, events = [] }: McpServerOptions): Reply {
  if (get === 'open') return sse(stayOpen(events));
  if (get === 'json') return json({ status: 'ok' });
  return { status: get };
}

async function* stayOpen(events: readonly Step[]): AsyncGenerator {
  yield* events;
  await new Promise(() => {});
}

function outcome(call: Call, request: RecordedRequest, tools: Readonly<Record<string, Tool>>) {
  switch (call.method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: call.params?.protocolVersion ?? '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'recorder', version: '1.0.0' },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } };
    case 'tools/call': {
      const tool = tools[call.params?.name ?? ''];
      if (tool === undefined) return { error: { code: -32602, message: 'Unknown tool' } };
      return { result: tool(call, request) };
    }
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined ? exactJson.rawJSON(context.source) : value;
}
