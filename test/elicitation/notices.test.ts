import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createNotices, type Notices } from '../../src/elicitation/notices.ts';
import { UnavailableError } from '../../src/errors.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';

const keepMs = 1_800_000;
const ring = createKeyRing([Buffer.alloc(32, 1)]);
let time: number;
let store: Store;
let notices: Notices;

const open = () => createNotices(store, ring, 'default', keepMs);

beforeEach(() => {
  time = Date.UTC(2026, 10, 30);
  store = createMemoryStore(() => time);
  notices = open();
});

const complete = (elicitationId: string): string => `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"${elicitationId}"}}`;
const neverFails = (error: unknown): void => { assert.fail(String(error)); };

/** A stream that notes what it is given; closed, it takes nothing. */
function stream(sessionId: string, of: Notices = notices) {
  const seen: string[] = [];
  const state = { isOpen: true };
  const end = of.attach(sessionId, (json) => state.isOpen && seen.push(json) > 0, neverFails);
  return { seen, end, close() { state.isOpen = false; } };
}

test('a session that has a stream open is told at once, and only once', async () => {
  const { seen } = stream('session-1');
  await notices.leave('session-1', 'elicitation-1');
  await setImmediate();
  assert.deepEqual(seen, [complete('elicitation-1')]);
  await store.publish('notice/default/session-1');
  await setImmediate();
  assert.deepEqual(seen, [complete('elicitation-1')]);
  assert.deepEqual(await store.list(''), []);
});

test('a notice waits for a stream that opens later, and all that wait are told', async () => {
  await notices.leave('session-1', 'elicitation-1');
  await notices.leave('session-1', 'elicitation-2');
  await notices.leave('session-1', 'elicitation-2');
  const { seen } = stream('session-1');
  await setImmediate();
  assert.deepEqual([...seen].sort(), [complete('elicitation-1'), complete('elicitation-2')]);
});

test('no other session hears of it, whatever its id looks like', async () => {
  const others = ['session-2', 'session', 'session-1 ', 'session-1/', ''].map((id) => stream(id));
  await notices.leave('session-1', 'elicitation-1');
  await setImmediate();
  assert.deepEqual(others.map(({ seen }) => seen), [[], [], [], [], []]);
});

test('whichever replica holds the stream tells, and of two streams of a session one does (E5)', async () => {
  const [here, there] = [stream('session-1'), stream('session-1', open())];
  await open().leave('session-1', 'elicitation-1');
  await setImmediate();
  assert.deepEqual([...here.seen, ...there.seen], [complete('elicitation-1')]);
});

test('what a stream could not take is kept for the next one', async () => {
  const first = stream('session-1');
  first.close();
  await notices.leave('session-1', 'elicitation-1');
  await setImmediate();
  assert.deepEqual(first.seen, []);
  first.end();
  const second = stream('session-1');
  await setImmediate();
  assert.deepEqual(second.seen, [complete('elicitation-1')]);
});

test('what a closing stream gives back reaches a stream that opened and looked in the meantime', async () => {
  for (const endsBeforePutBack of [true, false]) {
    store = createMemoryStore(() => time);
    notices = open();
    const old = stream('session-1');
    await setImmediate();
    old.close();
    // The old stream holds the notice in its hands while the new one looks.
    const { put, take } = store;
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => { letGo = resolve; });
    let isTaken: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => { isTaken = resolve; });
    store.take = async (key) => {
      const value = await take(key);
      isTaken();
      return value;
    };
    await notices.leave('session-1', 'elicitation-1');
    store.put = async (...args) => gate.then(() => put(...args));
    await taken;
    const fresh = stream('session-1');
    await setImmediate();
    if (endsBeforePutBack) old.end();
    letGo();
    await setImmediate();
    if (!endsBeforePutBack) old.end();
    await setImmediate();
    assert.deepEqual([...old.seen, ...fresh.seen], [complete('elicitation-1')], `ends before: ${endsBeforePutBack}`);
  }
});

test('a stream that takes nothing while it is attached does not keep the process busy', async () => {
  const { list } = store;
  let looks = 0;
  store.list = async (prefix) => {
    looks += 1;
    return list(prefix);
  };
  stream('session-1').close();
  await notices.leave('session-1', 'elicitation-1');
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  assert.equal(looks, 2);
});

test('a stream that has ended is told nothing more', async () => {
  const { seen, end } = stream('session-1');
  end();
  await notices.leave('session-1', 'elicitation-1');
  await setImmediate();
  assert.deepEqual(seen, []);
});

test('a notice waits as long as it is kept, and no longer', async () => {
  await notices.leave('session-1', 'elicitation-1');
  time += keepMs;
  const { seen } = stream('session-1');
  await setImmediate();
  assert.deepEqual(seen, []);
});

test('it is known whether a session listens here, through several streams and their ends', () => {
  assert.equal(notices.isListening('session-1'), false);
  const [one, other] = [stream('session-1'), stream('session-1')];
  assert.equal(notices.isListening('session-1'), true);
  assert.equal(notices.isListening('session-2'), false);
  one.end();
  assert.equal(notices.isListening('session-1'), true);
  other.end();
  assert.equal(notices.isListening('session-1'), false);
});

test('a store that cannot be read is told to the stream, and a notice is not said to be left when it is not', async () => {
  await store.close();
  const failed = new Promise<unknown>((tell) => { notices.attach('session-1', () => true, tell); });
  assert.ok((await failed) instanceof UnavailableError);
  await assert.rejects(notices.leave('session-1', 'elicitation-1'), UnavailableError);
});
