/** What the bridge sends and reads at its endpoint: one request, and each message of the answer as one line. */
import { request, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';

/** Where the bridge sends, and how the endpoint knows that it is this bridge. */
export interface Endpoint {
  readonly url: string;
  /** The bearer token of every request. */
  readonly proof: string;
}

export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Closes it. */
  readonly signal: AbortSignal;
}

/** For a request that nobody answered. */
export const unreachable = { code: 1502, message: 'Elicitgate did not answer.' };

/** @returns the head of the answer. @throws when there is none */
export function exchange({ url, proof }: Endpoint, { method, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  const all = {
    authorization: `Bearer ${proof}`,
    accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    request(url, { method, headers: all, agent: false, signal }, resolve).on('error', reject).end(body);
  });
}

/** @returns whether there was a message in it */
export async function passAnswer(answer: IncomingMessage, write: (line: string) => void): Promise<boolean> {
  const type = answer.headers['content-type'] ?? '';
  if (type.startsWith('text/event-stream')) return passEvents(answer, write);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8').trim();
  if (!type.startsWith('application/json') || text === '') return false;
  write(text.replace(/[\r\n]/g, ' '));
  return true;
}

export async function passEvents(answer: IncomingMessage, write: (line: string) => void): Promise<boolean> {
  let wasOne = false;
  const parser = createParser({
    onEvent({ data }) {
      if (data === '') return;
      wasOne = true;
      write(data.replace(/[\r\n]/g, ' '));
    },
  });
  answer.setEncoding('utf8');
  for await (const chunk of answer) parser.feed(chunk as string);
  return wasOne;
}
