import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import { EventBoundary, EventSplitter, keepAliveComment, mapLines, messageEvent } from '../../src/protocol/sse.ts';

/** What a client makes of a whole stream. */
function eventsOf(stream: Buffer): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  parser.feed(stream.toString());
  // A CR at the very end may be half of a CRLF to the parser; a comment after it settles that.
  parser.feed(':');
  return events;
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.oneof(
  fc.constantFrom('data: {"a":1}', 'data:x', 'data: x', 'data', 'data:', 'event: message', 'id: 7', 'id', 'retry: 100', ': comment', ':', 'data: größe \u{1f600} \u2028', 'event:other', 'unknown: x', ' data: x'),
  fc.string({ unit: fc.constantFrom('a', ':', ' ', 'ü', '"'), maxLength: 6 }).map((value) => `data: ${value}`),
);
/** Lines with any ends, blank ones among them; CR and LF of two ends may meet and be one. */
const stream = fc
  .array(fc.tuple(fc.oneof(line, fc.constant('')), lineEnd), { maxLength: 20 })
  .map((lines) => Buffer.from(lines.flat().join('')));
/** A stream in chunks of any lengths, so that characters, line ends and events are cut anywhere. */
const chunked = fc.tuple(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 })).map(([bytes, lengths]) => {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return { bytes, chunks };
});

const own = messageEvent('{"jsonrpc":"2.0","method":"ours"}');

/** That an event of ours at this place is whole, and changes nothing about those around it. */
function assertGoesBetween(bytes: Buffer, at: number): void {
  const before = eventsOf(bytes.subarray(0, at));
  const all = eventsOf(bytes);
  assert.deepEqual(all.slice(0, before.length), before);
  const ours: EventSourceMessage = { event: 'message', id: undefined, data: '{"jsonrpc":"2.0","method":"ours"}' };
  assert.deepEqual(eventsOf(Buffer.concat([bytes.subarray(0, at), own, bytes.subarray(at)])), [...before, ours, ...all.slice(before.length)]);
  assert.deepEqual(eventsOf(Buffer.concat([bytes.subarray(0, at), keepAliveComment, bytes.subarray(at)])), all);
}

test('the splitter keeps every byte in its order, however the stream is cut (S4)', () => {
  fc.assert(
    fc.property(chunked, ({ bytes, chunks }) => {
      const splitter = new EventSplitter();
      const released = chunks.map((chunk) => splitter.push(chunk) ?? Buffer.alloc(0));
      assert.deepEqual(Buffer.concat([...released, splitter.rest()]), bytes);
      assert.equal(splitter.pendingBytes, 0);
    }),
    { numRuns: 300 },
  );
});

test('the splitter lets events go whole, as soon as their blank line is there, and no later (S1, S4)', () => {
  fc.assert(
    fc.property(chunked, ({ bytes, chunks }) => {
      const splitter = new EventSplitter();
      let arrived = 0;
      let released = 0;
      for (const chunk of chunks) {
        arrived += chunk.length;
        released += splitter.push(chunk)?.length ?? 0;
        assert.equal(splitter.pendingBytes, arrived - released);
        assertGoesBetween(bytes, released);
        // A CR at the end of what arrived may still become a CRLF, so the event may be known one byte later.
        const known = bytes[arrived - 1] === 0x0d ? arrived - 1 : arrived;
        assert.ok(eventsOf(bytes.subarray(0, released)).length >= eventsOf(bytes.subarray(0, known)).length);
      }
    }),
    { numRuns: 200 },
  );
});

test('wherever the boundary says "between", an event and a comment of ours fit in (S5)', () => {
  fc.assert(
    fc.property(chunked, ({ bytes, chunks }) => {
      const boundary = new EventBoundary();
      let at = 0;
      assert.equal(boundary.isBetween, true);
      for (const chunk of chunks) {
        boundary.push(chunk);
        at += chunk.length;
        if (boundary.isBetween) assertGoesBetween(bytes, at);
      }
    }),
    { numRuns: 300 },
  );
});

test('the boundary is between events after every kind of blank line, and never inside one (S5)', () => {
  const isBetweenAfter = (text: string): boolean => {
    const boundary = new EventBoundary();
    for (const byte of Buffer.from(text)) boundary.push(Buffer.of(byte));
    return boundary.isBetween;
  };
  for (const blank of ['\n\n', '\r\r', '\r\n\r\n', '\n\r\n', '\r\n\n', '\n\r', '\r\r\n', '\r\n\r']) assert.equal(isBetweenAfter(`data: x${blank}`), true, JSON.stringify(blank));
  for (const inside of ['d', 'data: x', 'data: x\n', 'data: x\r', 'data: x\r\n', 'data: x\n\ndata: y\r\n', 'id: 1\n', 'data: x\n ', ':\n']) assert.equal(isBetweenAfter(inside), false, JSON.stringify(inside));
});

test('an event that comes in many pieces is held once, and known by its size', () => {
  const splitter = new EventSplitter();
  for (let piece = 0; piece < 1_000; piece += 1) assert.equal(splitter.push(Buffer.from('data: 0123456789\n')), undefined);
  assert.equal(splitter.pendingBytes, 17_000);
  assert.equal(splitter.push(Buffer.from('\nda'))?.length, 17_001);
  assert.equal(splitter.pendingBytes, 2);
  assert.equal(splitter.rest().toString(), 'da');
  assert.equal(splitter.rest().length, 0);
});

test('an event of ours has no id, so it never moves Last-Event-ID', () => {
  assert.equal(own.toString(), 'event: message\ndata: {"jsonrpc":"2.0","method":"ours"}\n\n');
});

test('only the values of data lines are data, with or without a space, and after a BOM; line ends stay', () => {
  const change = { data: (value: string) => `<${value}>`, other: (other: string) => `(${other})` };
  assert.equal(mapLines('\ufeffdata: a\r\ndata:b\rdata:  c\nid: data: d\ndataset: e\n: data: f\ndata\n\ndata:\n\n', change), '\ufeffdata: <a>\r\ndata:<b>\rdata: < c>\n(id: data: d)\n(dataset: e)\n(: data: f)\n(data)\n\ndata:<>\n\n');
});
