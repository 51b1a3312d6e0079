/** A sessionless MCP server that answers calls of `free` with one event and then silence, and a GET with silence. */
import { callOf, mcpServer } from './mcp-server.ts';
import { sse, type Behaviour } from './recorder.ts';
import { liveBody } from './streams.ts';

export function fallsSilent(): Behaviour {
  const server = mcpServer({ sessions: false });
  return (request) => {
    if (request.method === 'GET') return sse(liveBody().body);
    if (callOf(request)?.params?.name !== 'free') return server(request);
    const live = liveBody();
    live.write('id: 1\ndata: {"n":1}\n\n');
    return sse(live.body);
  };
}
