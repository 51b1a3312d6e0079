/** B17: clients go away at every moment at which the proxy waits for something. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { connect, toolCall, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { json, sse, startRecorder, type Reply } from '../kit/recorder.ts';
import { ask, listen, liveBody } from '../kit/streams.ts';
import { serve, until } from './served.ts';
import { closingAll, times, type Soak } from './soak.ts';

const atOnce = 8;

export const hangUps: Soak = {
  name: 'hang-ups',
  row: 'B17',
  what: 'clients that disconnect while the proxy waits: every timer, subscription and upstream request freed',
  full: 1_000,
  small: 40,
  run: (count) => closingAll(async (t) => {
    const server = mcpServer();
    /** Answers that clients have left; a legacy call runs on upstream until it is answered. */
    let withheld: (() => void)[] = [];
    const upstream = await startRecorder((request) => {
      if (request.method === 'GET') return sse(liveBody().body);
      const name = callOf(request)?.params?.name;
      if (name === 'silent') {
        return new Promise<Reply>((answer) => { withheld.push(() => { answer(json({ jsonrpc: '2.0', id: 1, result: {} })); }); });
      }
      if (name !== 'begun') return server(request);
      const live = liveBody();
      live.write('data: {"n":1}\n\n');
      withheld.push(live.end);
      return sse(live.body);
    });
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    const clients = await Promise.all(Array.from({ length: atOnce }, () => connect(served.url, { capabilities: urlMode })));
    const leave = async (at: number): Promise<void> => {
      const client = clients[at % clients.length];
      assert.ok(client);
      const way = ways[Math.floor(at / clients.length) % ways.length];
      await way?.(client);
    };
    const settle = async (): Promise<void> => {
      await until('all that ran on upstream is over', () => {
        for (const answer of withheld) answer();
        withheld = [];
        return upstream.openStreams() === 0;
      });
    };
    await times(ways.length * atOnce, atOnce, leave);
    await settle();
    const before = { ...(await served.held()), files: served.openFiles() };
    await times(count, atOnce, leave);
    await settle();
    await until('no file is open that was not before', () => served.openFiles() <= before.files + upstreamConnections);
    const after = await served.held();
    assert.ok(after.calls <= clients.length && after.streams <= clients.length, `${after.calls} calls and ${after.streams} streams are left`);
    assert.ok(after.timers <= before.timers + 1, `${after.timers} timers, ${before.timers} before`);
    assert.equal((await clients[0]?.call('free'))?.message.result?.content?.[0]?.text, 'free');
    return {
      figures: [
        { what: 'upstream requests left', measured: upstream.openStreams(), unit: '', bar: 0 },
        { what: 'timers more', measured: Math.max(0, after.timers - before.timers - 1), unit: '', bar: 0 },
        { what: 'heap grown', measured: (after.heapUsed - before.heapUsed) / 1024 ** 2, unit: 'MB', bar: 5 },
      ],
    };
  }),
};

/** Kept connections to the upstream are used again; how many there are depends on how many calls met. */
const upstreamConnections = atOnce;

const ways: readonly ((client: McpClient) => Promise<void>)[] = [
  (client) => shoutAndLeave(client, 'POST', JSON.stringify(toolCall('silent'))),
  async (client) => {
    const stream = await ask(client, toolCall('begun'));
    await stream.until('"n":1');
    stream.close();
  },
  (client) => shoutAndLeave(client, 'GET', ''),
  async (client) => {
    const stream = await listen(client);
    await stream.until(': \n\n');
    stream.close();
  },
  (client) => shoutAndLeave(client, 'POST', JSON.stringify(toolCall('paid'))),
  // Leaves in the middle of its own request.
  (client) => shoutAndLeave(client, 'POST', JSON.stringify(toolCall('free')).slice(0, -10), 10),
];

/** Writes a request and hangs up in the same breath. */
async function shoutAndLeave({ url, session = '' }: McpClient, method: 'GET' | 'POST', body: string, missingBytes = 0): Promise<void> {
  const { port, host } = new URL(url);
  const socket = connectSocket(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const headers = { Host: host, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', 'Content-Length': String(body.length + missingBytes), 'Mcp-Session-Id': session };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
  if (!socket.closed) await once(socket, 'close');
}
