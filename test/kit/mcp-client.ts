/**
 * A client of the legacy era without an SDK: exact bytes and raw headers out, exact bytes back. What a
 * well-behaved client never sends is sent from here.
 */
import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { submitPage } from './proxy.ts';

/** Names in any spelling; a list sends the header once for each value. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface Sent {
  readonly method?: string;
  /** Beside Host and Content-Length, which are there unless given. */
  readonly headers?: SentHeaders;
  /** A list is sent in chunks, without Content-Length. */
  readonly body?: string | Buffer | readonly (string | Buffer)[];
  /** Keeps connections; without one each request has its own, and says that it will close it. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly text: string;
  /** The body as a JSON-RPC message; of an event stream, the last one. */
  readonly message: Message;
}

export interface Elicitation {
  readonly mode: string;
  readonly elicitationId: string;
  readonly url: string;
  readonly message: string;
}

/** As far as tests read it. */
export interface Message {
  readonly id?: unknown;
  readonly result?: { readonly content?: readonly { readonly text: string }[]; readonly isError?: boolean };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly elicitations?: readonly Elicitation[] } };
}

export interface McpClient {
  readonly url: string;
  /** What `initialize` was answered with. */
  readonly opened: Answer;
  readonly session: string | undefined;
  /** A message in this session, as text or as data. */
  readonly post: (message: unknown, headers?: SentHeaders) => Promise<Answer>;
  readonly call: (tool: string, args?: unknown, headers?: SentHeaders) => Promise<Answer>;
  /** GET or DELETE. */
  readonly bare: (method: 'GET' | 'DELETE', headers?: SentHeaders) => Promise<Answer>;
}

export interface Declared {
  readonly capabilities?: unknown;
  readonly clientInfo?: unknown;
  readonly protocolVersion?: string;
  /** Go with every request, such as an access token. */
  readonly headers?: SentHeaders;
}

/** Capabilities of a client that opens URLs. */
export const urlMode = { elicitation: { url: {} } };

const mcpHeaders = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** One request and its whole answer; also when the server answers and closes before it has read everything. */
export async function send(url: string, sent: Sent = {}): Promise<Answer> {
  const answer = await sendForHead(url, sent);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return toAnswer(answer, Buffer.concat(chunks));
}

/** The same as soon as the answer's head is there. */
export async function sendForHead(url: string, { method = 'POST', headers = {}, body, agent }: Sent): Promise<IncomingMessage> {
  const given = Object.keys(headers).map((name) => name.toLowerCase());
  const isChunked = Array.isArray(body);
  const defaults = {
    ...(given.includes('host') ? {} : { Host: new URL(url).host }),
    ...(isChunked || body === undefined || given.includes('content-length') ? {} : { 'Content-Length': String(Buffer.byteLength(body as string | Buffer)) }),
    ...(isChunked ? { 'Transfer-Encoding': 'chunked' } : {}),
  };
  const outgoing = httpRequest(url, { method, agent: agent ?? false, headers: rawList({ ...defaults, ...headers }) });
  const arrived = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  if (Array.isArray(body)) for (const chunk of body as (string | Buffer)[]) outgoing.write(chunk);
  outgoing.end(isChunked ? undefined : body);
  const [answer] = await arrived;
  // The rest of a body that nobody reads any more fails after the answer.
  outgoing.on('error', () => undefined);
  return answer;
}

export function post(url: string, message: unknown, headers: SentHeaders = {}): Promise<Answer> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return send(url, { headers: { ...mcpHeaders, ...headers }, body });
}

/** Opens a session as a client does that declares this. */
export async function connect(url: string, declared: Declared = {}): Promise<McpClient> {
  const { capabilities = {}, clientInfo = { name: 'test', version: '1' }, protocolVersion = '2025-11-25', headers: always = {} } = declared;
  const opened = await post(url, { jsonrpc: '2.0', id: 'open', method: 'initialize', params: { protocolVersion, capabilities, clientInfo } }, always);
  const session = opened.headers['mcp-session-id'] as string | undefined;
  const own: SentHeaders = { ...always, ...(session === undefined ? {} : { 'Mcp-Session-Id': session }), 'MCP-Protocol-Version': protocolVersion };
  const client: McpClient = {
    url,
    opened,
    session,
    post: (message, headers = {}) => post(url, message, { ...own, ...headers }),
    call: (tool, args = {}, headers = {}) => client.post(toolCall(tool, args), headers),
    bare: (method, headers = {}) => send(url, { method, headers: { ...own, Accept: 'text/event-stream', ...headers } }),
  };
  return client;
}

export function toolCall(tool: string, args: unknown = {}, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: args } };
}

/** Calls a tool for its question and gives what it asks for on the page. */
export async function provide(client: McpClient, tool: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const { message, text } = await client.call(tool);
  const url = message.error?.data?.elicitations?.[0]?.url ?? linkIn(text);
  const { status, html } = await submitPage(url, fields);
  if (status !== 200) throw new Error(`the page did not take it: ${status} ${html}`);
}

/** The connect link in an answer's text. */
export function linkIn(text: string): string {
  const link = /http[^\s"\\]*\/connect\/[\w-]+/.exec(text)?.[0];
  if (link === undefined) throw new Error(`no link in ${text}`);
  return link;
}

function toAnswer(incoming: IncomingMessage, body: Buffer): Answer {
  const text = body.toString();
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body,
    text,
    get message() {
      const isStream = incoming.headers['content-type']?.startsWith('text/event-stream') === true;
      return JSON.parse(isStream ? (text.match(/(?<=^data: ?).*$/gm)?.at(-1) ?? '') : text) as Message;
    },
  };
}

function rawList(headers: SentHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one])));
}
