/**
 * An MCP server that passes what the official conformance suite asks of 2025-11-25, so that comparing it
 * direct with proxied is sharp: the SDK's 1.x server over Streamable HTTP, stateful, resumable, guarded
 * against DNS rebinding. Its tools, prompts and resources are in conformance-features.ts.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport, type EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { addFeatures, capabilities } from './conformance-features.ts';

export interface ConformanceServer {
  /** With `localhost` in it, which the suite's DNS rebinding checks ask for. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts the server on a free loopback port. */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer((request, response) => void serve(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (!isLocal(request)) return refuse(response, 403, 'Forbidden host or origin');
    const session = request.headers['mcp-session-id'];
    const transport = typeof session === 'string' ? sessions.get(session) : await openSession(sessions);
    if (transport === undefined) return refuse(response, 404, 'Session not found');
    await transport.handleRequest(request, response);
  };

  return {
    url: `http://localhost:${port}/mcp`,
    close: async () => {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}

async function openSession(sessions: Map<string, StreamableHTTPServerTransport>) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: memoryEventStore(),
    retryInterval: 100,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new McpServer({ name: 'conformance-server', version: '1.0.0' }, { capabilities });
  addFeatures(server.server);
  await server.connect(transport);
  return transport;
}

function isLocal(request: IncomingMessage): boolean {
  const local = /^(localhost|127\.0\.0\.1)(:\d+)?$/;
  const { host = '', origin } = request.headers;
  return local.test(host) && (origin === undefined || local.test(origin.replace(/^https?:\/\//, '')));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } }));
}

function memoryEventStore(): EventStore {
  const events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (stream, message) => {
      const id = String(events.length);
      events.push({ id, stream, message });
      return id;
    },
    getStreamIdForEventId: async (id) => events[Number(id)]?.stream,
    replayEventsAfter: async (id, { send }) => {
      const stream = events[Number(id)]?.stream ?? '';
      for (const event of events.slice(Number(id) + 1)) {
        if (event.stream === stream) await send(event.id, event.message);
      }
      return stream;
    },
  };
}
