/**
 * A recording upstream on node:http. It keeps every request exactly as it came (raw header list, body
 * bytes) and answers as the test says; mcp-server.ts has ready-made MCP servers to hand to it.
 *
 *     const upstream = await startRecorder(mcpServer({ answers: 'sse' }));
 *     upstream.setBehaviour(() => ({ status: 302, headers: { location: '/elsewhere' } }));
 *     upstream.setBehaviour(() => sse(['data: {"a":', gate, '1}\n\n', CUT]));
 *
 * A behaviour is a function from request to reply. A reply's body is a text, bytes, or a script of
 * steps: a text or bytes are written as one chunk, a promise is waited for and what it resolves to is
 * the step, `CUT` breaks the connection off, and the end of the script ends the answer.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A step that ends the connection in mid-answer, after the bytes before it. */
export const CUT = Symbol('cut the connection');

export type Step = string | Uint8Array | Promise<unknown> | typeof CUT;
export type Script = Iterable<Step> | AsyncIterable<unknown>;

export interface Reply {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | Script;
}

export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names and values in turn, in the spelling and order of the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The value of a header in any case, several joined by ", "; undefined when it did not come. */
  readonly header: (name: string) => string | undefined;
  /** Resolves when the connection closes before the answer has ended, and never otherwise. */
  readonly aborted: Promise<void>;
  /** Resolves when the whole answer has left, and never otherwise. */
  readonly answered: Promise<void>;
}

export type Behaviour = (request: RecordedRequest) => Reply | Promise<Reply>;

export interface Recorder {
  /** The MCP endpoint, `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Drops what was recorded so far; long runs need the memory. */
  readonly forget: () => void;
  readonly setBehaviour: (behaviour: Behaviour) => void;
  /** The first recorded request that fits, or else the next one that does. */
  readonly request: (fits: (request: RecordedRequest) => boolean) => Promise<RecordedRequest>;
  /** How many answers are begun and not over. */
  readonly openStreams: () => number;
  readonly close: () => Promise<void>;
}

/** Starts a recorder on a loopback port, by default a free one. */
export async function startRecorder(behaviour: Behaviour, port = 0): Promise<Recorder> {
  const requests: RecordedRequest[] = [];
  const open = new Set<ServerResponse>();
  const arrivals = new EventEmitter().setMaxListeners(0);
  let behave = behaviour;

  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    const request = await record(incoming, response);
    if (request === undefined) return;
    requests.push(request);
    arrivals.emit('request', request);
    await play(await behave(request), response);
  };
  const server = createServer((incoming, response) => void serve(incoming, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    forget: () => {
      requests.length = 0;
    },
    setBehaviour: (next) => {
      behave = next;
    },
    request: (fits) => {
      const early = requests.find(fits);
      if (early !== undefined) return Promise.resolve(early);
      return new Promise((resolve) => {
        const look = (request: RecordedRequest) => {
          if (!fits(request)) return;
          arrivals.off('request', look);
          resolve(request);
        };
        arrivals.on('request', look);
      });
    },
    openStreams: () => open.size,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** An SSE reply. */
export function sse(body: string | Script, headers: Reply['headers'] = {}): Reply {
  return { headers: { 'content-type': 'text/event-stream', ...headers }, body };
}

/** A JSON reply. */
export function json(message: unknown, headers: Reply['headers'] = {}): Reply {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(message) };
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest | undefined> {
  const aborted = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  response.once('close', () => {
    (response.writableFinished ? answered : aborted).resolve();
  });
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return undefined; // the request itself was cut off
  }
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks),
    header: (name) => incoming.headersDistinct[name.toLowerCase()]?.join(', '),
    aborted: aborted.promise,
    answered: answered.promise,
  };
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  response.writeHead(reply.status ?? 200);
  const { body = '' } = reply;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  for await (const step of body) {
    if (step === CUT) {
      response.socket?.destroySoon(); // what was written still goes out
      return;
    }
    if (response.destroyed) return;
    if ((typeof step === 'string' || step instanceof Uint8Array) && !response.write(step)) await roomIn(response);
  }
  response.end();
}

/** Waits until a reader who is slower than the script has caught up, or is gone. */
function roomIn(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
