/** B7: bodies far beyond `maxBody`, told and untold, plain and packed, at the endpoint and at a page. */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { gzipSync } from 'node:zlib';
import { connect, post, send, toolCall, type Sent } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { serve } from './served.ts';
import { closingAll, type Soak } from './soak.ts';

const mebibyte = 1024 * 1024;
const hugeMebibytes = 100;

export const hugeBodies: Soak = {
  name: 'huge-bodies',
  row: 'B7',
  what: '100 MB bodies with a length, chunked, and as gzip bombs, at the endpoint and at a page: 413 or 415, memory flat',
  full: 20,
  small: 1,
  run: (count) => closingAll(async (t) => {
    const upstream = await startRecorder(mcpServer());
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    // Who says that she will close the connection may lose the answer with it, when she still sends.
    const agent = new Agent({ keepAlive: true });
    t.after(() => { agent.destroy(); });
    const piece = Buffer.alloc(mebibyte, 'x');
    const huge = Buffer.alloc(hugeMebibytes * mebibyte, 'x');
    const chunks = Array<Buffer>(hugeMebibytes).fill(piece);
    // A gzip stream may have several members: ten times the same make a gibibyte.
    const bomb = Buffer.concat(Array<Buffer>(10).fill(gzipSync(huge, { level: 1 })));
    const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const page = `${served.origin}/connect/none`;
    const attacks: readonly [string, string, Sent, readonly number[]][] = [
      ['with a length', served.url, { headers: json, body: huge }, [413]],
      ['chunked', served.url, { headers: json, body: chunks }, [413]],
      ['a gzip bomb', served.url, { headers: { ...json, 'Content-Encoding': 'gzip' }, body: bomb }, [413, 415]],
      ['a form with a length', page, { headers: form, body: huge }, [413]],
      ['a chunked form', page, { headers: form, body: chunks }, [413]],
      ['a gzip bomb as a form', page, { headers: { ...form, 'Content-Encoding': 'gzip' }, body: bomb }, [413, 415]],
    ];
    const round = async (): Promise<void> => {
      for (const [name, url, sent, expected] of attacks) {
        const { status } = await send(url, { ...sent, agent });
        assert.ok(expected.includes(status), `${name}: ${status}`);
      }
    };
    // A process that has just started grows at the first thing it does; bodies just below the limits come first.
    const client = await connect(served.url);
    for (let at = 0; at < 10; at += 1) assert.equal((await post(served.url, toolCall('free', { text: 'x'.repeat(7_000_000) }), { 'Mcp-Session-Id': client.session ?? '' })).status, 200);
    await served.held();
    const risenMb = await served.peak(async () => {
      for (let at = 0; at < count; at += 1) await round();
    });
    assert.equal((await client.call('free')).message.result?.content?.[0]?.text, 'free');
    assert.equal(upstream.requests.some(({ body }) => body.length > 8 * mebibyte), false);
    return {
      figures: [
        { what: 'bodies refused', measured: count * attacks.length, unit: '' },
        { what: 'memory risen at most', measured: risenMb, unit: 'MB', bar: 10 },
      ],
    };
  }),
};
