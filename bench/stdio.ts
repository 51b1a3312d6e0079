/** What a program behind the proxy costs, measured in a process of its own, where memory can be read after a collection. */
import { ask, beside, startTalker } from './processes.ts';

export interface StdioCost {
  /** One call, in milliseconds: to the program itself, and through Elicitgate with HTTP and injection. */
  readonly directMs: number;
  readonly throughMs: number;
  readonly processes: number;
  /** Our memory for each idle process, in bytes. */
  readonly bytesPerProcess: number;
  /** What is there more than before, after they ended. */
  readonly homesLeft: number;
  readonly descriptorsLeft: number;
}

/** Measures so many calls in a row, and then fifty people's processes; takes about fifteen seconds. */
export async function measureStdio(calls: number): Promise<StdioCost> {
  const runner = startTalker(beside('stdio-run.ts'), ['--expose-gc']);
  try {
    return await ask<StdioCost>(runner, { calls });
  } finally {
    await runner.close();
  }
}
