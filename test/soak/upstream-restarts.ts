/** B4: the upstream goes away in mid-stream and comes back, again and again. */
import assert from 'node:assert/strict';
import { fallsSilent } from '../kit/falls-silent.ts';
import { key } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { startRecorder, type Recorder } from '../kit/recorder.ts';
import { ask, listen } from '../kit/streams.ts';
import { serve, until } from './served.ts';
import { closingAll, took, type Soak } from './soak.ts';

const callsInFlight = 3;

export const upstreamRestarts: Soak = {
  name: 'upstream-restarts',
  row: 'B4',
  what: 'an upstream that restarts in mid-stream: a 1502 to each call under way, the next call works, no leaked socket or handle',
  full: 1_000,
  small: 6,
  run: (count) => closingAll(async (t) => {
    let upstream: Recorder = await startRecorder(fallsSilent());
    t.after(() => upstream.close());
    const port = Number(new URL(upstream.url).port);
    const served = await serve(t, { upstream: upstream.url });
    const client = await connect(served.url, { capabilities: urlMode });
    await provide(client, 'paid', { token: key });
    const slowest = { error: 0, next: 0 };
    const round = async (): Promise<void> => {
      const stream = await listen(client);
      await upstream.request(({ method }) => method === 'GET');
      const calls = await Promise.all(Array.from({ length: callsInFlight }, (_, id) => ask(client, { ...toolCall('free'), id })));
      await Promise.all(calls.map((call) => call.until('"n":1')));
      const error = await took(async () => {
        await upstream.close();
        for (const [id, call] of calls.entries()) {
          const { text, end } = await call.over;
          assert.equal(end, 'whole');
          assert.ok(text.includes(`"id":${id},"error":{"code":1502,`), text);
        }
        assert.equal((await stream.over).end, 'whole');
      });
      assert.equal((await client.call('paid')).message.error?.code, 1502);
      upstream = await startRecorder(fallsSilent(), port);
      const next = await took(async () => {
        assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
      });
      slowest.error = Math.max(slowest.error, error);
      slowest.next = Math.max(slowest.next, next);
    };
    await round();
    const before = { ...(await served.held()), files: served.openFiles() };
    for (let at = 1; at < count; at += 1) await round();
    await until('no file is open that was not before', () => served.openFiles() <= before.files);
    const after = await served.held();
    assert.ok(after.sockets <= before.sockets, `${after.sockets} sockets, ${before.sockets} before`);
    assert.ok(after.timers <= before.timers + 1, `${after.timers} timers, ${before.timers} before`);
    assert.ok(after.calls <= 2 && after.streams <= 2, `${after.calls} calls and ${after.streams} streams are left`);
    return {
      figures: [
        { what: 'slowest error to the client', measured: slowest.error, unit: 'ms', bar: 2_000 },
        { what: 'slowest next call', measured: slowest.next, unit: 'ms' },
        { what: 'heap grown', measured: (after.heapUsed - before.heapUsed) / 1024 ** 2, unit: 'MB' },
        { what: 'sockets and handles left', measured: Math.max(0, served.openFiles() - before.files), unit: '', bar: 0 },
      ],
    };
  }),
};
