/** What is left of an answer when its client is gone. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { beforeEach, test } from 'node:test';
import { Relay, type RelayPlan } from '../../src/gateway/relay.ts';
import { OversizedAnswer, type Sink } from '../../src/gateway/sinks.ts';
import type { AnswerController } from '../../src/upstreams/upstream.ts';

const minute = 60_000;
const mebibyte = Buffer.alloc(1024 * 1024);
let time: number;
let beat: () => void;
let taken: string[];
let reasons: string[];
let unheard: (() => void)[];
let reply: EventEmitter & { destroyed: boolean; writableEnded: boolean };
let controller: { aborted: boolean; abort: (error: Error) => void };
let relay: Relay;

/** An event stream that has begun; a call may take a minute. */
beforeEach(() => {
  [time, taken, reasons, unheard] = [0, [], [], []];
  reply = Object.assign(new EventEmitter(), { destroyed: false, writableEnded: false });
  controller = {
    aborted: false,
    abort(error) {
      controller.aborted = true;
      reasons.push(error.message);
      relay.onResponseError(controller as unknown as AnswerController, error);
    },
  };
  const sink: Sink = { data: (chunk) => taken.push(chunk.toString()) > 0, end: () => undefined, fail: () => undefined };
  const plan: RelayPlan = { choose: () => sink, refuse: () => undefined, report: (reason) => reasons.push(reason), unheard: (breakOff) => { unheard.push(breakOff); return () => unheard.splice(unheard.indexOf(breakOff), 1); } };
  const heartbeat = { add: (each: () => void) => { beat = each; return () => undefined; }, close: () => undefined };
  relay = new Relay(reply as unknown as ServerResponse, plan, heartbeat, minute, () => time);
  relay.onRequestStart(controller as unknown as AnswerController);
  relay.onResponseStart(controller as unknown as AnswerController, 200, { 'content-type': 'text/event-stream' });
});

const send = (bytes: Buffer | string): void => { relay.onResponseData(controller as unknown as AnswerController, Buffer.from(bytes)); };

function hangUp(): void {
  reply.destroyed = true;
  reply.emit('close');
}

function tickFor(minutes: number): void {
  for (let half = 0; half < minutes * 2 && !controller.aborted; half += 1) {
    time += minute / 2;
    send(': tick\n\n');
    beat();
  }
}

test('an upstream that goes on ticking is heard out for hours while its client is there, and for one timeout once it is gone (B17)', () => {
  tickFor(600);
  assert.equal(controller.aborted, false);
  hangUp();
  assert.equal(unheard.length, 1);
  tickFor(1);
  assert.equal(controller.aborted, false);
  tickFor(600);
  assert.equal(time, 601.5 * minute);
  assert.deepEqual(reasons, ['nobody waits for this call'], 'and no failure of the upstream is reported');
  assert.equal(unheard.length, 0);
  assert.equal(taken.length, 1_200);
});

test('of what nobody reads 32 MiB are read (B17)', () => {
  for (let count = 0; count < 40; count += 1) send(mebibyte);
  hangUp();
  for (let count = 0; count < 32; count += 1) send(mebibyte);
  assert.throws(() => { send('x'); }, OversizedAnswer);
  assert.equal(taken.length, 40);
});

test('an answer that was over before its client went leaves nothing', () => {
  relay.onResponseEnd();
  hangUp();
  assert.deepEqual([unheard.length, reasons.length], [0, 0]);
});
