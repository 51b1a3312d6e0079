/** What an upstream says while nobody listens is kept within bounds, however long its messages are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conversation } from '../../src/upstreams/conversation.ts';
import { Exchange } from '../../src/upstreams/exchange.ts';
import { createRoute, openStream, say } from '../../src/upstreams/session-route.ts';

function heard(route: ReturnType<typeof createRoute>): string[] {
  const events: string[] = [];
  openStream(route, new Exchange({ onResponseStart: () => undefined, onResponseData: (_controller, chunk) => void events.push(chunk.toString()), onResponseEnd: () => undefined, onResponseError: () => undefined }));
  return events;
}

test('of many long messages the newest wait for the next stream, 4 Mi characters at most', (t) => {
  const peer = { send: () => undefined, close: () => Promise.resolve() };
  const conversation = new Conversation(() => peer, { opening: { method: 'initialize', params: '{}' }, owner: undefined, timeoutMs: 60_000, openWithinMs: 60_000, noise: () => undefined });
  conversation.opened.catch(() => undefined);
  t.after(() => conversation.end());
  const route = createRoute({ id: 's', person: 'ada', params: '{}', conversations: new Set() });
  for (let at = 0; at < 10; at += 1) say(route, `${at}`.repeat(1024 * 1024), conversation);
  assert.deepEqual(heard(route).map((event) => /\d/.exec(event)?.[0]), ['6', '7', '8', '9']);
  const quiet = createRoute({ id: 't', person: 'ada', params: '{}', conversations: new Set() });
  for (let at = 0; at < 101; at += 1) say(quiet, `{"at":${at}}`, conversation);
  assert.equal(heard(quiet).length, 100);
});
