/**
 * What every store promises (src/stores/store.ts), as one suite: a store that passes it can stand under
 * the vault. Time is the test's own, so lifetimes pass at once.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { UnavailableError } from '../../src/errors.ts';
import type { Clock, Store } from '../../src/stores/store.ts';

/** Opens a fresh store, a further one on the same records where processes share them, and says how to clean up after it. */
export type OpenStore = (now: Clock) => Promise<{ readonly store: Store; readonly other?: () => Promise<Store>; readonly cleanUp: () => void }>;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string | undefined => (value === undefined ? undefined : new TextDecoder().decode(value));

/** @param name of the store, in the tests' names */
export function describeStore(name: string, open: OpenStore): void {
  describe(`the ${name} store`, () => {
    let time = Date.UTC(2026, 10, 30);
    let store: Store;
    let another: (() => Promise<Store>) | undefined;
    let cleanUp: () => void;
    const getText = async (key: string) => text(await store.get(key));
    const listTexts = async (prefix: string) => (await store.list(prefix)).map(({ key, value }) => [key, text(value)]);

    beforeEach(async () => {
      ({ store, other: another, cleanUp } = await open(() => time));
    });
    afterEach(async () => {
      await store.close().catch(() => undefined);
      cleanUp();
    });

    test('what was put is read back byte for byte, an empty value and binary ones too', async () => {
      const every = Uint8Array.from({ length: 256 }, (_, at) => at);
      await store.put('every/byte', every);
      await store.put('empty', new Uint8Array());
      assert.deepEqual(Buffer.from((await store.get('every/byte')) ?? []), Buffer.from(every));
      assert.deepEqual(await store.get('empty'), new Uint8Array());
    });

    test('a key that was never put, or was deleted, is not there', async () => {
      await store.put('a', bytes('1'));
      await store.delete('a');
      await store.delete('never');
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.get('never'), undefined);
      assert.equal(await store.take('never'), undefined);
    });

    test('a later put replaces the value and its lifetime', async () => {
      await store.put('a', bytes('short'), 1_000);
      await store.put('a', bytes('long'));
      time += 3_600_000;
      assert.equal(await getText('a'), 'long');
    });

    test('what a caller does to its bytes afterwards changes nothing that is stored', async () => {
      const given = bytes('given');
      await store.put('a', given);
      given.fill(0);
      const read = await store.get('a');
      assert.equal(text(read), 'given');
      read?.fill(0);
      (await store.list('a'))[0]?.value.fill(0);
      assert.equal(await getText('a'), 'given');
    });

    test('a record is there until its last millisecond and for nobody after it', async () => {
      await store.put('a', bytes('1'), 1_000);
      time += 999;
      assert.equal(await getText('a'), '1');
      time += 1;
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.take('a'), undefined);
      assert.equal(await store.compareAndSet('a', bytes('1'), bytes('2')), false);
      assert.deepEqual(await store.list(''), []);
      assert.equal(await store.putIfAbsent('a', bytes('3')), true);
    });

    test('putIfAbsent writes only where nothing live stands, and leaves what stands as it is', async () => {
      assert.equal(await store.putIfAbsent('a', bytes('first'), 1_000), true);
      assert.equal(await store.putIfAbsent('a', bytes('second')), false);
      assert.equal(await getText('a'), 'first');
      time += 1_000;
      assert.equal(await getText('a'), undefined);
    });

    test('compareAndSet writes only over exactly the expected bytes', async () => {
      assert.equal(await store.compareAndSet('a', bytes('1'), bytes('2')), false);
      await store.put('a', bytes('1'));
      assert.equal(await store.compareAndSet('a', bytes('1 '), bytes('2')), false);
      assert.equal(await store.compareAndSet('a', bytes(''), bytes('2')), false);
      assert.equal(await store.compareAndSet('a', bytes('1'), bytes('2'), 1_000), true);
      assert.equal(await getText('a'), '2');
      time += 1_000;
      assert.equal(await getText('a'), undefined);
    });

    test('of 50 at once one takes, one puts and one swaps', async () => {
      const fifty = <T>(move: (nth: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 50 }, (_, nth) => move(nth)));
      const wins = (outcomes: readonly boolean[]): number => outcomes.filter(Boolean).length;
      assert.equal(wins(await fifty((nth) => store.putIfAbsent('a', bytes(`put ${nth}`)))), 1);
      const stands = (await store.get('a')) ?? bytes('nothing');
      assert.equal(wins(await fifty((nth) => store.compareAndSet('a', stands, bytes(`swap ${nth}`)))), 1);
      assert.match((await getText('a')) ?? '', /^swap /);
      assert.equal((await fifty(() => store.take('a'))).filter((taken) => taken !== undefined).length, 1);
      assert.equal(await store.get('a'), undefined);
    });

    test('list answers with the live records under a prefix, in key order, and with no others', async () => {
      for (const key of ['n/b/2', 'n/b/1', 'n/a', 'n', 'n/b', 'm/b/1', 'n/b/10', 'o']) await store.put(key, bytes(key));
      await store.put('n/b/0', bytes('short'), 1_000);
      time += 1_000;
      assert.deepEqual(await listTexts('n/b/'), [['n/b/1', 'n/b/1'], ['n/b/10', 'n/b/10'], ['n/b/2', 'n/b/2']]);
      assert.deepEqual((await listTexts('')).map(([key]) => key), ['m/b/1', 'n', 'n/a', 'n/b', 'n/b/1', 'n/b/10', 'n/b/2', 'o']);
      assert.deepEqual(await listTexts('p'), []);
    });

    test('a prefix is taken literally: %, _, * and ? stand for themselves', async () => {
      for (const key of ['a%/1', 'a_/1', 'a*/1', 'ab/1', 'A%/1']) await store.put(key, bytes('x'));
      for (const prefix of ['a%', 'a_', 'a*']) assert.deepEqual((await listTexts(prefix)).map(([key]) => key), [`${prefix}/1`]);
    });

    test('of 50 at once one gets a lock, and the next only when it was given back or has ended', async () => {
      const held = (await Promise.all(Array.from({ length: 50 }, () => store.lock('a', 1_000)))).filter((unlock) => unlock !== undefined);
      assert.equal(held.length, 1);
      assert.notEqual(await store.lock('b', 1_000), undefined, 'another lock is free');
      await held[0]?.();
      assert.notEqual(await store.lock('a', 1_000), undefined);
      time += 999;
      assert.equal(await store.lock('a', 1_000), undefined);
      time += 1;
      assert.notEqual(await store.lock('a', 1_000), undefined);
    });

    test('a lock is given back by its holder alone: who was too slow takes it from nobody', async () => {
      const slow = await store.lock('a', 1_000);
      time += 1_000;
      const next = await store.lock('a', 1_000);
      await slow?.();
      assert.equal(await store.lock('a', 1_000), undefined);
      await next?.();
      await next?.();
      assert.notEqual(await store.lock('a', 1_000), undefined);
    });

    test('a lock is no record of the same name', async () => {
      await store.lock('a', 1_000);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.putIfAbsent('a', bytes('1')), true);
      assert.equal(await store.lock('a', 1_000), undefined);
    });

    test('publish tells every subscriber of that channel and no other, until it unsubscribes', async () => {
      const heard: string[] = [];
      const end = store.subscribe('one', () => heard.push('first'));
      store.subscribe('one', () => heard.push('second'));
      store.subscribe('two', () => heard.push('other'));
      await store.publish('one');
      end();
      end();
      await store.publish('one');
      await store.publish('nobody listens');
      assert.deepEqual(heard, ['first', 'second', 'second']);
    });

    test('a subscriber may unsubscribe itself, and subscribe others, while it is told', async () => {
      const heard: string[] = [];
      const end = store.subscribe('one', () => {
        heard.push('first');
        end();
        store.subscribe('one', () => heard.push('late'));
      });
      store.subscribe('one', () => heard.push('steady'));
      await store.publish('one');
      assert.deepEqual(heard, ['first', 'steady']);
      await store.publish('one');
      assert.deepEqual(heard, ['first', 'steady', 'steady', 'late']);
    });

    test('list says when each record ends, and comes in pages', async () => {
      await store.put('p/2', bytes('2'), 5_000);
      for (const key of ['p/1', 'p/3', 'q/1']) await store.put(key, bytes(key));
      assert.deepEqual((await store.list('p/')).map(({ key, expiresAt }) => [key, expiresAt]), [['p/1', undefined], ['p/2', time + 5_000], ['p/3', undefined]]);
      const page = async (after: string, limit: number) => (await store.list('p/', { after, limit })).map(({ key }) => key);
      assert.deepEqual(await page('', 2), ['p/1', 'p/2']);
      assert.deepEqual(await page('p/2', 2), ['p/3']);
      assert.deepEqual(await page('p/3', 2), []);
      assert.deepEqual((await store.list('', { after: 'p/2', limit: 9 })).map(({ key }) => key), ['p/3', 'q/1']);
    });

    test('two processes see each other’s records at once, and of 50 moves in both one wins', async (t) => {
      if (another === undefined) return;
      const other = await another();
      t.after(() => other.close());
      const both = (nth: number): Store => (nth % 2 === 0 ? store : other);
      const fifty = <T>(move: (nth: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 50 }, (_, nth) => move(nth)));
      const wins = (outcomes: readonly unknown[]): number => outcomes.filter((outcome) => outcome !== false && outcome !== undefined).length;
      assert.equal(wins(await fifty((nth) => both(nth).putIfAbsent('a', bytes(`put ${nth}`)))), 1);
      const stands = (await other.get('a')) ?? bytes('nothing');
      assert.equal(wins(await fifty((nth) => both(nth).compareAndSet('a', stands, bytes(`swap ${nth}`)))), 1);
      assert.deepEqual(await store.get('a'), await other.get('a'));
      assert.equal(wins(await fifty((nth) => both(nth).take('a'))), 1);
      assert.equal(wins(await fifty((nth) => both(nth).lock('a', 1_000))), 1);
    });

    test('what one process publishes the other hears once, with its message, and nobody of another channel does', async (t) => {
      if (another === undefined) return;
      const other = await another();
      t.after(() => other.close());
      const heard: (string | undefined)[] = [];
      const own: (string | undefined)[] = [];
      const last = Promise.withResolvers<void>();
      other.subscribe('one', (message) => heard.push(message));
      other.subscribe('last', () => last.resolve());
      store.subscribe('one', (message) => own.push(message));
      await store.publish('one', 'first');
      await store.publish('two', 'not theirs');
      await store.publish('one', 'ünd\n"second"');
      await store.publish('last');
      await last.promise;
      assert.deepEqual(heard, ['first', 'ünd\n"second"']);
      assert.deepEqual(own, ['first', 'ünd\n"second"']);
    });

    test('ping answers while the store works', async () => {
      await store.ping();
    });

    test('a closed store could not look, which is not the same as "not there"', async () => {
      await store.put('a', bytes('1'));
      await store.close();
      await assertUnavailable(store);
    });

    test('any run of moves answers as a plain map with a clock does', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyMove, { maxLength: 25 }), async (moves) => {
          const prefix = `run ${(run += 1)}/`;
          const model = createModel(() => time);
          for (const move of moves) {
            if (move.does === 'wait') time += move.ms;
            else assert.deepEqual(await play(store, move, prefix), await play(model, move, prefix), JSON.stringify(moves));
          }
          assert.deepEqual(await listTexts(prefix), (await model.list(prefix)).map(({ key, value }) => [key, text(value)]));
        }),
        { numRuns: 60 },
      );
    });
  });
}

/** Every method says "could not look"; none answers. */
export async function assertUnavailable(store: Store): Promise<void> {
  const one = bytes('1');
  const moves: readonly (() => Promise<unknown>)[] = [
    () => store.get('a'),
    () => store.put('a', one),
    () => store.putIfAbsent('a', one),
    () => store.compareAndSet('a', one, one),
    () => store.take('a'),
    () => store.delete('a'),
    () => store.list(''),
    () => store.lock('a', 1),
    () => store.ping(),
  ];
  for (const move of moves) await assert.rejects(move, UnavailableError, String(move));
}

type Move =
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'get' | 'take' | 'delete'; readonly key: string }
  | { readonly does: 'put' | 'putIfAbsent'; readonly key: string; readonly value: string; readonly ttlMs: number | undefined }
  | { readonly does: 'compareAndSet'; readonly key: string; readonly expected: string; readonly value: string; readonly ttlMs: number | undefined };

const key = fc.constantFrom('a', 'b', 'b/c');
const value = fc.constantFrom('', '1', '2');
const ttlMs = fc.constantFrom(undefined, 1, 10, 1_000);
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(1, 9, 990) }),
  fc.record({ does: fc.constantFrom('get', 'take', 'delete'), key }),
  fc.record({ does: fc.constantFrom('put', 'putIfAbsent'), key, value, ttlMs }),
  fc.record({ does: fc.constant('compareAndSet' as const), key, expected: value, value, ttlMs }),
);

type Moves = Pick<Store, 'get' | 'take' | 'delete' | 'put' | 'putIfAbsent' | 'compareAndSet' | 'list'>;

async function play(store: Moves, move: Exclude<Move, { readonly does: 'wait' }>, prefix: string): Promise<unknown> {
  const at = prefix + move.key;
  switch (move.does) {
    case 'get':
    case 'take':
      return text(await store[move.does](at));
    case 'delete':
      return store.delete(at);
    case 'put':
    case 'putIfAbsent':
      return store[move.does](at, bytes(move.value), move.ttlMs);
    case 'compareAndSet':
      return store.compareAndSet(at, bytes(move.expected), bytes(move.value), move.ttlMs);
  }
}

/** The promise, said as naively as it can be. */
function createModel(now: Clock): Moves {
  let records: readonly { readonly key: string; readonly value: Uint8Array; readonly until: number }[] = [];
  const live = (wanted: string) => records.find(({ key: present, until }) => present === wanted && until > now());
  const without = (unwanted: string) => records.filter(({ key: present }) => present !== unwanted);
  const put = async (at: string, stored: Uint8Array, ttl = Infinity): Promise<void> => {
    records = [...without(at), { key: at, value: stored, until: now() + ttl }];
  };
  return {
    get: async (at) => live(at)?.value,
    put,
    async putIfAbsent(at, stored, ttl) {
      const isFree = live(at) === undefined;
      if (isFree) await put(at, stored, ttl);
      return isFree;
    },
    async compareAndSet(at, expected, stored, ttl) {
      const isAsExpected = text(live(at)?.value) === text(expected);
      if (isAsExpected) await put(at, stored, ttl);
      return isAsExpected;
    },
    async take(at) {
      const taken = live(at)?.value;
      records = without(at);
      return taken;
    },
    async delete(at) {
      records = without(at);
    },
    list: async (prefix) => records.filter((one) => one.key.startsWith(prefix) && one.until > now()).sort((a, b) => (a.key < b.key ? -1 : 1)),
  };
}
