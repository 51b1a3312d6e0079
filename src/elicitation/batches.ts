/**
 * Work on one thing goes one batch after the other: what arrives while a batch is under way, or in the
 * same turn of the event loop, makes the next one. Between two batches everybody else gets a turn, so a
 * flood of attempts at one thing costs a few batches and holds nobody up.
 */
import { setImmediate } from 'node:timers/promises';

export type Batch<Item> = readonly [Item, ...Item[]];

/**
 * @param act does all the items of one key; its failure is the failure of each of them, and of no later batch
 * @returns adds one item; answers once its batch is done
 */
export function createBatches<Item>(act: (items: Batch<Item>) => Promise<void>): (key: string, item: Item) => Promise<void> {
  const filling = new Map<string, { readonly items: [Item, ...Item[]]; readonly done: Promise<void> }>();
  const last = new Map<string, Promise<void>>();

  async function run(key: string, items: Batch<Item>): Promise<void> {
    await last.get(key)?.catch(() => undefined);
    await setImmediate();
    filling.delete(key);
    await act(items);
  }
  return async (key, item) => {
    const open = filling.get(key);
    if (open !== undefined) {
      open.items.push(item);
      return open.done;
    }
    const items: [Item, ...Item[]] = [item];
    const done = run(key, items);
    filling.set(key, { items, done });
    last.set(key, done);
    try {
      await done;
    } finally {
      if (last.get(key) === done) last.delete(key);
    }
  };
}
