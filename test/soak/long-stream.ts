/** A10 at length: an event stream that repeats the secret all the way is scrubbed, and costs no memory. */
import assert from 'node:assert/strict';
import { key } from '../kit/gateway.ts';
import { connect, provide, sendForHead, toolCall, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { sse, startRecorder } from '../kit/recorder.ts';
import { serve } from './served.ts';
import { closingAll, type Soak } from './soak.ts';

const mebibyte = 1024 * 1024;
/** Events are cut at any byte, often within the secret. */
const pieceBytes = 65_521;
/** What V8 leaves lying before it clears up, whatever the length; a stream that is held would cost all of it, twice. */
const garbageMb = 50;

export const longStream: Soak = {
  name: 'long-stream',
  row: 'A10',
  what: 'MB of one event stream with the secret in every event: scrubbed to the last byte, memory flat',
  full: 100,
  small: 8,
  run: (megabytes) => closingAll(async (t) => {
    const event = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(900)} ${key} \\u0073k-canary-4f9d2c7b81"}}\n\n`;
    const events = Math.ceil((megabytes * mebibyte) / event.length);
    const server = mcpServer();
    const upstream = await startRecorder((request) => (callOf(request)?.params?.name === 'paid' && request.header('x-key') !== undefined ? sse(pieces(event, events)) : server(request)));
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    const client = await connect(served.url, { capabilities: urlMode });
    await provide(client, 'paid', { token: key });
    const read = async (): Promise<void> => {
      const answer = await sendForHead(served.url, { headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream, application/json', 'Mcp-Session-Id': client.session ?? '' }, body: JSON.stringify(toolCall('paid')) });
      let redacted = 0;
      let rest = '';
      for await (const chunk of answer) {
        const text = rest + (chunk as Buffer).toString('latin1');
        assert.equal(text.includes(key) || text.includes('k-canary-4f'), false, 'the secret came through');
        const parts = text.split('[redacted]');
        redacted += parts.length - 1;
        rest = (parts.at(-1) ?? '').slice(-key.length);
      }
      assert.equal(redacted, events * 2);
    };
    // Once before, so that what is measured is the length and not the start.
    await read();
    await served.held();
    const risenMb = await served.peak(read);
    return {
      figures: [
        { what: 'secrets scrubbed', measured: events * 2, unit: '' },
        { what: 'memory risen at most', measured: risenMb, unit: 'MB', bar: garbageMb },
      ],
    };
  }),
};

/** The same event so often, in pieces of one length. */
function* pieces(event: string, count: number): Generator<Buffer> {
  const batch = 64;
  let rest = Buffer.alloc(0);
  for (let at = 0; at < count; at += batch) {
    rest = Buffer.concat([rest, Buffer.from(event.repeat(Math.min(batch, count - at)))]);
    for (; rest.length >= pieceBytes; rest = rest.subarray(pieceBytes)) yield rest.subarray(0, pieceBytes);
  }
  yield rest;
}
