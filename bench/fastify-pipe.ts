/**
 * The yardstick for CPU per call: Fastify in front, undici's dispatch behind, nothing in between. It reads
 * the request's body whole and writes the answer's bytes as they come, as Elicitgate does, and looks at
 * neither. Usage: `node bench/fastify-pipe.ts PORT UPSTREAM_PORT`.
 */
import fastify from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import type { IncomingHttpHeaders } from 'undici/types/header.js';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: null, pipelining: 1 });

class PipeHandler implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    const passed: OutgoingHttpHeaders = {};
    for (const name of ['content-type', 'content-length', 'mcp-session-id']) {
      if (headers[name] !== undefined) passed[name] = headers[name];
    }
    this.#response.writeHead(status, passed);
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#response.write(chunk);
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    this.#response.destroy();
  }
}

const app = fastify({ logger: false });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.all<{ Body: Buffer | undefined }>('/mcp', (request, reply) => {
  reply.hijack();
  const headers = ['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version'].flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [name, value] : [];
  });
  const body = request.body ?? null;
  pool.dispatch({ path: '/mcp', method: request.method, headers, body }, new PipeHandler(reply.raw));
});
await app.listen({ port: port ?? 0, host: '127.0.0.1' });
