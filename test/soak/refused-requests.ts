/** B16: requests that are refused leave nothing behind: no record, no memory. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { send, toolCall, type Sent } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { callPaid, headersOf, namedPeople } from './person.ts';
import { serve, type Served } from './served.ts';
import { closingAll, times, type Soak } from './soak.ts';

const atOnce = 8;
/** One in so many is a question that is put anew: the newest 32 links of a question live. */
const askedOneIn = 20;
const newestLinks = 32;

export const refusedRequests: Soak = {
  name: 'refused-requests',
  row: 'B16',
  what: 'refused requests, and unanswered questions among them: memory and record count flat',
  full: 100_000,
  small: 400,
  run: (count) => closingAll(async (t) => {
    const upstream = await startRecorder(mcpServer({ sessions: false }));
    t.after(() => upstream.close());
    const served = await serve(t, { upstream: upstream.url, file: namedPeople });
    const kinds = refusals(served);
    const one = async (at: number): Promise<void> => {
      if (at % askedOneIn === 0) {
        assert.equal((await callPaid(served, 'ada')).message.result?.isError, true);
        return;
      }
      const kind = kinds[at % kinds.length];
      assert.ok(kind);
      const [name, status, url, sent] = kind;
      assert.equal((await send(url, sent)).status, status, name);
    };
    // The first part fills caches and the 32 links; from then on nothing may grow.
    const first = Math.max(newestLinks * askedOneIn + askedOneIn, Math.ceil(count / 10));
    await times(first, atOnce, one);
    const before = { ...(await served.held()), records: records(served), files: served.openFiles() };
    await times(Math.max(0, count - first), atOnce, one);
    const after = { ...(await served.held()), records: records(served) };
    assert.equal(after.records, before.records);
    assert.deepEqual(upstream.requests, []);
    assert.ok(after.timers <= before.timers + 1, `${after.timers} timers, ${before.timers} before`);
    const megabytes = (from: number, to: number): number => (to - from) / 1024 ** 2;
    return {
      figures: [
        { what: 'records before and after', measured: after.records, unit: '' },
        { what: 'records more', measured: after.records - before.records, unit: '', bar: 0 },
        { what: 'heap grown', measured: megabytes(before.heapUsed, after.heapUsed), unit: 'MB', bar: 5 },
        { what: 'resident memory grown', measured: megabytes(before.rss, after.rss), unit: 'MB', bar: 10 },
      ],
    };
  }),
};

function refusals({ url, origin }: Served): readonly [string, number, string, Sent][] {
  const own = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headersOf('ada') };
  const call = JSON.stringify(toolCall('free'));
  const form = { ...headersOf('ada'), 'Content-Type': 'application/x-www-form-urlencoded', Origin: origin };
  return [
    ['a foreign host', 403, url, { headers: { ...own, Host: 'evil.example' }, body: call }],
    ['a foreign origin', 403, url, { headers: { ...own, Origin: 'https://evil.example' }, body: call }],
    ['nobody', 401, url, { headers: { 'Content-Type': 'application/json' }, body: call }],
    ['a wrong secret', 401, url, { headers: { ...own, 'X-Proxy-Secret': 'wrong' }, body: call }],
    ['no JSON', 400, url, { headers: own, body: '{"jsonrpc":' }],
    ['an array', 400, url, { headers: own, body: `[${call}]` }],
    ['another media type', 415, url, { headers: { ...own, 'Content-Type': 'text/plain' }, body: call }],
    ['an answer nobody gives', 406, url, { headers: { ...own, Accept: 'text/html' }, body: call }],
    ['an unknown session', 404, url, { headers: { ...own, 'Mcp-Session-Id': `unknown-${Math.random()}` }, body: call }],
    ['a stream of an unknown session', 404, url, { method: 'GET', headers: { ...own, 'Mcp-Session-Id': 'unknown' } }],
    ['the end of an unknown session', 404, url, { method: 'DELETE', headers: { ...own, 'Mcp-Session-Id': 'unknown' } }],
    ['an unknown path', 404, `${origin}/other`, { headers: own, body: call }],
    ['an unknown link', 404, `${origin}/connect/unknown`, { method: 'GET', headers: headersOf('ada') }],
    ['a form for an unknown link', 404, `${origin}/connect/unknown`, { headers: form, body: 'action=give&token=x' }],
    ['a form without its token', 403, `${origin}/account`, { headers: form, body: 'action=disconnect&upstream=main&credential=key' }],
  ];
}

function records({ folder }: Served): number {
  const database = new DatabaseSync(join(folder, 'elicitgate.db'), { readOnly: true });
  const { n } = database.prepare("SELECT count(*) AS n FROM records WHERE key <> 'ping'").get() as { n: number };
  database.close();
  return n;
}
