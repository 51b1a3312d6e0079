/**
 * Both ends of a stream in a test's hands: an upstream's answer that is written step by step while the
 * test looks on, and a client's answer that is read as it arrives.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { sendForHead, type McpClient, type Sent, type SentHeaders } from './mcp-client.ts';
import { CUT, type Script, type Step } from './recorder.ts';

export interface LiveBody {
  /** The body of a reply. */
  readonly body: Script;
  /** The next bytes; what was written before somebody asked is kept. */
  readonly write: (...steps: Step[]) => void;
  readonly end: () => void;
  /** Breaks the connection off. */
  readonly cut: () => void;
}

/** A body that the test writes while it is being sent. */
export function liveBody(): LiveBody {
  const { readable, writable } = new TransformStream<Step, Step>(undefined, { highWaterMark: Infinity }, { highWaterMark: Infinity });
  const writer = writable.getWriter();
  // Whoever reads may stop reading at any time.
  const ignore = () => undefined;
  const write = (...steps: Step[]): void => {
    for (const step of steps) writer.write(step).catch(ignore);
  };
  return { body: readable, write, end: () => void writer.close().catch(ignore), cut: () => write(CUT) };
}

export interface StreamClient {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Everything so far. */
  readonly text: string;
  /** Everything so far, as soon as it contains this text so often; fails when the answer ends or stays silent before. */
  readonly until: (part: string, times?: number) => Promise<string>;
  /** Everything, and whether the answer ended as it should or was cut. */
  readonly over: Promise<{ readonly text: string; readonly end: 'whole' | 'cut' }>;
  /** Nothing is read from now on, until `read`. */
  readonly pause: () => void;
  readonly read: () => void;
  /** Hangs up. */
  readonly close: () => void;
}

/** A test fails rather than waits for ever. */
const patienceMs = 8_000;

/** Sends a request over a connection of its own. @returns when the answer's head is there */
export async function openStream(url: string, sent: Sent): Promise<StreamClient> {
  const answer = await sendForHead(url, sent);
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => (text += chunk));
  answer.on('error', () => undefined);
  const over = new Promise<{ text: string; end: 'whole' | 'cut' }>((resolve) => {
    answer.once('close', () => { resolve({ text, end: answer.complete ? 'whole' : 'cut' }); });
  });
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    get text() {
      return text;
    },
    until: async (part, times = 1) => {
      if (!(await comes(answer, text, part, times, AbortSignal.timeout(patienceMs)))) throw new Error(`the answer never said ${JSON.stringify(part)}: ${JSON.stringify(text.slice(-500))}`);
      return text;
    },
    over,
    pause: () => void answer.pause(),
    read: () => void answer.resume(),
    close: () => void answer.destroy(),
  };
}

/** Whether a text comes so often before the answer is over. Only what is new is searched, so that long answers take no longer. */
function comes(answer: IncomingMessage, soFar: string, part: string, times: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let missing = times;
    let unsearched = '';
    const settle = (isThere: boolean): void => {
      answer.off('data', look).off('close', onOver);
      resolve(isThere);
    };
    const onOver = (): void => { settle(false); };
    const look = (chunk: string): void => {
      const pieces = (unsearched + chunk).split(part);
      missing -= pieces.length - 1;
      unsearched = pieces.at(-1)?.slice(1 - part.length) ?? '';
      if (missing <= 0) settle(true);
    };
    answer.on('data', look).on('close', onOver);
    signal.addEventListener('abort', onOver);
    look(soFar);
    if (answer.closed) onOver();
  });
}

/** The headers of a client's session. */
export function sessionOf(client: McpClient): SentHeaders {
  return { ...(client.session === undefined ? {} : { 'Mcp-Session-Id': client.session }), 'MCP-Protocol-Version': '2025-11-25' };
}

/** Opens a client's server stream. */
export function listen(client: McpClient, headers: SentHeaders = {}): Promise<StreamClient> {
  return openStream(client.url, { method: 'GET', headers: { Accept: 'text/event-stream', ...sessionOf(client), ...headers } });
}

/** Posts a message, in a session or without one, and reads the answer as it arrives. */
export function ask(client: Pick<McpClient, 'url' | 'session'>, message: object): Promise<StreamClient> {
  const session = client.session === undefined ? {} : { 'Mcp-Session-Id': client.session };
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...session };
  return openStream(client.url, { headers, body: JSON.stringify(message) });
}
