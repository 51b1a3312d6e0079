/** Attack A8 and fault B8: a few hundred bent messages; `npm run soak malformed` sends 100,000. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startGateway } from '../kit/gateway.ts';
import { post, send, toolCall } from '../kit/mcp-client.ts';
import { callOf } from '../kit/mcp-server.ts';
import { json, type RecordedRequest } from '../kit/recorder.ts';
import { bentRequest, codes, couldBeTheCall, statuses } from './bent-messages.ts';

const numRuns = 600;

test('no message, however it is bent, brings the protected call upstream, crashes the proxy or gets a 5xx, and only the codes for it come back (A8, B8)', async (t) => {
  const answerTo = (request: RecordedRequest) => {
    const id = callOf(request)?.id;
    return id === undefined ? { status: 202 } : json({ jsonrpc: '2.0', id, result: {} });
  };
  const { url, upstream, proxy } = await startGateway(t, { upstream: answerTo });
  let judged = 0;
  await fc.assert(
    fc.asyncProperty(bentRequest, async ({ headers, body }) => {
      const before = upstream.requests.length;
      const answer = await send(url, { headers, body });
      assert.ok(statuses.has(answer.status), `status ${answer.status}`);
      if (answer.text !== '') assert.ok(codes.has(answer.message.error?.code), answer.text);
      for (const request of upstream.requests.slice(before)) assert.equal(couldBeTheCall(request), false);
      if (answer.text.includes('isError')) judged += 1;
    }),
    { numRuns },
  );
  assert.ok(judged > 0, `only ${judged} of ${numRuns} messages were whole`);
  assert.equal(proxy.log.some((line) => line.includes('failed inside the proxy')), false);
  assert.equal((await post(url, toolCall('free'))).status, 200);
});
