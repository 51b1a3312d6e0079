/** B8: messages that are nearly right, by the generators of attack A8. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bentRequest, codes, couldBeTheCall, statuses } from '../attacks/bent-messages.ts';
import { post, send, toolCall } from '../kit/mcp-client.ts';
import { callOf } from '../kit/mcp-server.ts';
import { json, startRecorder } from '../kit/recorder.ts';
import { serve } from './served.ts';
import { closingAll, times, type Soak } from './soak.ts';

const lanes = 6;

export const malformed: Soak = {
  name: 'malformed',
  row: 'B8',
  what: 'malformed messages by fast-check: no crash, no 5xx, no unhandled rejection, nothing forwarded, only allowed codes',
  full: 100_000,
  small: 300,
  run: (count) => closingAll(async (t) => {
    const forwarded: string[] = [];
    const upstream = await startRecorder((request) => {
      upstream.forget();
      if (couldBeTheCall(request)) forwarded.push(request.body.toString());
      const id = callOf(request)?.id;
      return id === undefined ? { status: 202 } : json({ jsonrpc: '2.0', id, result: {} });
    });
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url });
    let judged = 0;
    const each = fc.asyncProperty(bentRequest, async ({ headers, body }) => {
      const answer = await send(served.url, { headers, body });
      assert.ok(statuses.has(answer.status), `status ${answer.status}`);
      if (answer.text !== '') assert.ok(codes.has(answer.message.error?.code), answer.text);
      assert.deepEqual(forwarded, []);
      if (answer.text.includes('isError')) judged += 1;
    });
    await times(lanes, lanes, () => fc.assert(each, { numRuns: Math.ceil(count / lanes) }));
    assert.equal((await post(served.url, toolCall('free'))).status, 200);
    assert.ok(served.isRunning());
    assert.doesNotMatch(served.log(), /failed inside the proxy|unhandled/i);
    return {
      figures: [
        { what: 'forwarded', measured: forwarded.length, unit: '', bar: 0 },
        { what: 'whole calls among them, asked for their key', measured: judged, unit: '' },
      ],
    };
  }),
};
