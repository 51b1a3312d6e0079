/** `elicitgate migrate`: makes the tables of PostgreSQL ready, for installations whose server may not change tables itself. */
import { prepareStore } from '../app.ts';
import type { Config } from '../config/config.ts';
import { ok, type Result } from '../errors.ts';

/** @returns what was done in one sentence, or why it could not be */
export async function runMigrate(config: Config): Promise<Result<string, string>> {
  const steps = await prepareStore(config);
  if (!steps.ok) return steps;
  if (steps.value === undefined) return ok(`Nothing to do: ${config.vault.store.kind} has no tables to prepare.\n`);
  return ok(steps.value === 0 ? 'Nothing to do: the tables are ready.\n' : `The tables are ready now (steps: ${steps.value}).\n`);
}
