import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBatches } from '../../src/elicitation/batches.ts';

/** Everything that does not wait for the test has been done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

/** Notes each batch and waits with it until it is let go. */
function held() {
  const batches: string[][] = [];
  const waiting: (() => void)[] = [];
  const add = createBatches<string>(async (items) => {
    batches.push([...items]);
    await new Promise<void>((resolve) => waiting.push(resolve));
    if (items.includes('bad')) throw new Error('bad batch');
  });
  const letGo = (): void => { for (const go of waiting.splice(0)) go(); };
  return { add, batches, letGo };
}

test('what comes in one turn is one batch; what comes while it is under way is the next', async () => {
  const { add, batches, letGo } = held();
  const first = [add('k', 'a'), add('k', 'b')];
  await settled();
  const second = [add('k', 'c'), add('k', 'd')];
  await settled();
  assert.deepEqual(batches, [['a', 'b']], 'one batch at a time');
  letGo();
  await settled();
  assert.deepEqual(batches, [['a', 'b'], ['c', 'd']]);
  letGo();
  await Promise.all([...first, ...second]);
});

test('different things do not wait for each other', async () => {
  const { add, batches, letGo } = held();
  const both = [add('k', 'a'), add('l', 'b')];
  await settled();
  assert.deepEqual(batches, [['a'], ['b']]);
  letGo();
  await Promise.all(both);
});

test('a failure is that of every item of its batch, and of no later one', async () => {
  const { add, batches, letGo } = held();
  const outcomes = Promise.allSettled([add('k', 'a'), add('k', 'bad')]);
  await settled();
  const later = add('k', 'c');
  letGo();
  assert.deepEqual((await outcomes).map(({ status }) => status), ['rejected', 'rejected']);
  await settled();
  letGo();
  await later;
  assert.deepEqual(batches, [['a', 'bad'], ['c']]);
});
