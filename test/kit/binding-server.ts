/**
 * A server of the official SDK 1.x that reads the key of a session at `initialize` and never again, as many
 * do: header X-Key. Tool `whoami` says which key the session has; tool `mine` is listed only with one.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface BoundSession {
  readonly key: string | undefined;
  readonly server: McpServer;
  readonly transport: StreamableHTTPServerTransport;
  /** Resolves when the session's own stream is asked for. */
  readonly streaming: Promise<void>;
  /** Resolves when the session is ended. */
  readonly ended: Promise<void>;
}

export interface BindingServer {
  readonly url: string;
  /** All that were ever opened, in order. */
  readonly sessions: readonly BoundSession[];
  readonly close: () => Promise<void>;
}

/** @param refused a key with which no session is opened: 401 */
export async function startBindingServer(refused?: string): Promise<BindingServer> {
  const sessions: BoundSession[] = [];
  const byId = new Map<string, BoundSession>();
  const events = new EventEmitter();
  const http = createServer((request, response) => void serve(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const key = request.headers['x-key'];
    if (typeof id !== 'string' && typeof key === 'string' && key === refused) {
      response.writeHead(401).end();
      return;
    }
    const session = typeof id === 'string' ? byId.get(id) : await openSession(typeof key === 'string' ? key : undefined);
    if (session === undefined) {
      response.writeHead(404).end();
      return;
    }
    const handled = session.transport.handleRequest(request, response);
    if (request.method === 'GET') events.emit(`stream ${session.transport.sessionId ?? ''}`);
    await handled;
  }
  async function openSession(key: string | undefined): Promise<BoundSession> {
    const streaming = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const server = new McpServer({ name: 'binding', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: key ?? 'nobody' }] }));
    if (key !== undefined) server.registerTool('mine', {}, () => ({ content: [] }));
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        byId.set(id, session);
        events.once(`stream ${id}`, streaming.resolve);
      },
      onsessionclosed: (id) => {
        byId.delete(id);
        ended.resolve();
      },
    });
    const session: BoundSession = { key, server, transport, streaming: streaming.promise, ended: ended.promise };
    sessions.push(session);
    await server.connect(transport);
    return session;
  }
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    sessions,
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}
