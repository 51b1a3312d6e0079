/**
 * From a client that speaks over standard input and output to an MCP endpoint over Streamable HTTP (MCP
 * 2025-11-25, basic/transports): each line is posted, each answer and each event of the server stream is
 * written as a line. Lines that are no messages are left out. An endpoint that has lost the session gets
 * the client's own `initialize` again, once for each message, and the client sees nothing of it.
 */
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { errorResponse, parseMessage, type RpcMessage } from '../protocol/json-rpc.ts';
import { memberText } from '../protocol/json-edit.ts';
import { exchange, passAnswer, passEvents, unreachable, type Endpoint } from './bridge-http.ts';
import { createModernSide } from './bridge-modern.ts';

export interface BridgeOptions {
  readonly endpoint: Endpoint;
  readonly input: Readable;
  /** Takes one message, without its line end. */
  readonly write: (line: string) => void;
}

/**
 * @param signal ends it at once
 * @returns when the input has ended
 */
export async function runBridge({ endpoint, input, write }: BridgeOptions, signal: AbortSignal): Promise<void> {
  let session: string | undefined;
  let version: string | undefined;
  let opening: string | undefined;
  /** What has no answer of its own keeps its place in the order. */
  let before: Promise<unknown> = Promise.resolve();
  const stop = new AbortController();
  const modern = createModernSide({ endpoint, write, signal: stop.signal });
  const listener = createInterface({ input, crlfDelay: Infinity });
  const end = (): void => { listener.close(); };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();

  function ask(method: 'POST' | 'GET' | 'DELETE', body?: string, isOpening = false): Promise<IncomingMessage> {
    const headers = {
      ...(session === undefined || isOpening ? {} : { 'mcp-session-id': session }),
      ...(version === undefined || isOpening ? {} : { 'mcp-protocol-version': version }),
    };
    return exchange(endpoint, { method, headers, body, signal: stop.signal });
  }
  async function listen(): Promise<void> {
    const answer = await ask('GET');
    if (answer.statusCode === 200) await passEvents(answer, write);
    else answer.resume();
    // The stream ends with a restart or a limit of time; one that is refused is not asked for again.
    if (answer.statusCode === 200 && !stop.signal.aborted) await listen();
  }
  async function open(body: string): Promise<string> {
    const answer = await ask('POST', body, true);
    const lines: string[] = [];
    await passAnswer(answer, (line) => lines.push(line));
    const result = lines.at(-1) ?? '';
    const id = answer.headers['mcp-session-id'];
    session = typeof id === 'string' ? id : undefined;
    version = negotiated(result);
    return result;
  }
  async function pass(line: string, message: RpcMessage): Promise<void> {
    if (message.kind === 'request' && message.method === 'initialize') {
      opening = line;
      write(await open(line));
      return;
    }
    if (await modern.took(line, message)) return;
    let answer = await ask('POST', line);
    if (answer.statusCode === 404 && session !== undefined && opening !== undefined) {
      answer.resume();
      await open(opening);
      await passAnswer(await ask('POST', '{"jsonrpc":"2.0","method":"notifications/initialized"}'), () => undefined);
      answer = await ask('POST', line);
    }
    // Only requests are answered on a client's side; what else was refused has no id that it would know.
    const wasAnswered = await passAnswer(answer, message.kind === 'request' ? write : () => undefined);
    if (message.kind === 'request' && !wasAnswered && answer.statusCode !== 200) write(errorResponse(message.idText, unreachable));
    if (message.kind === 'notification' && message.method === 'notifications/initialized') listen().catch(() => undefined);
  }
  function send(line: string): void {
    const parsed = parseMessage(Buffer.from(line));
    if (!parsed.ok) {
      write(errorResponse(undefined, { code: parsed.error === 'not-json' ? -32700 : -32600, message: parsed.error === 'not-json' ? 'Parse error' : 'Invalid Request' }));
      return;
    }
    const message = parsed.value;
    const sent = before.then(() => pass(line, message)).catch(() => {
      if (message.kind === 'request' && !stop.signal.aborted) write(errorResponse(message.idText, unreachable));
    });
    if (message.kind !== 'request' || message.method === 'initialize') before = sent;
  }

  for await (const line of listener) if (line.trim() !== '') send(line);
  if (session !== undefined && !signal.aborted) await ask('DELETE').then((answer) => answer.resume(), () => undefined);
  stop.abort();
}

function negotiated(answer: string): string | undefined {
  const text = memberText(answer, ['result', 'protocolVersion']);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof value === 'string' ? value : undefined;
}
