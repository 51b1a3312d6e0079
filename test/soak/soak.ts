/**
 * A soak: one fault or load, as often as it is told to. What must be right is asserted on the way and
 * throws; what only this machine can say (milliseconds, memory) comes back as figures beside their bars.
 */
import type { TestContext } from 'node:test';

export interface Soak {
  /** What its argument is called on the command line. */
  readonly name: string;
  /** The row of the threat table that it is for. */
  readonly row: string;
  /** What is done `count` times, and what must come out. */
  readonly what: string;
  /** How often in `npm run soak`, and in `npm test`. */
  readonly full: number;
  readonly small: number;
  /** @throws when something is wrong, not when something is slow */
  readonly run: (count: number) => Promise<Report>;
}

export interface Report {
  readonly figures: readonly Figure[];
  /** What was left out on this machine, and why. */
  readonly leftOut?: readonly string[];
}

export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: 'ms' | 's' | 'KB' | 'MB' | '';
  /** At most so much. */
  readonly bar?: number;
}

/** What a soak needs of a test: to have things closed at its end. */
export type Closing = Pick<TestContext, 'after'>;

/** Runs a soak, and closes what it has opened, the last first. */
export async function closingAll<T>(run: (t: Closing) => Promise<T>): Promise<T> {
  const closers: (() => unknown)[] = [];
  const after = (close?: () => unknown): void => {
    if (close !== undefined) closers.unshift(close);
  };
  try {
    return await run({ after: after as Closing['after'] });
  } finally {
    for (const close of closers) await close();
  }
}

/** Runs `step` for 0 … count-1, some at once. */
export async function times(count: number, atOnce: number, step: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await step(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}

/** How long something took, in milliseconds. */
export async function took(act: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await act();
  return performance.now() - since;
}

/** @param share 0.99 for the value that 99 of 100 do not exceed */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
