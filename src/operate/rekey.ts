/** `elicitgate rekey`: seals every record again under the first key, while replicas serve. */
import { openRecords } from '../app.ts';
import type { Config } from '../config/config.ts';
import { err, ok, UnavailableError, type Result } from '../errors.ts';
import type { Clock } from '../stores/store.ts';
import { rekey, type RekeyReport } from '../vault/rekey.ts';
import { describeError } from './log.ts';

/** @returns what was done, or one sentence that says why it could not be finished */
export async function runRekey(config: Config, now: Clock, progress: (records: number) => void): Promise<Result<RekeyReport, string>> {
  const opened = await openRecords(config, now);
  if (!opened.ok) return opened;
  const { store, ring } = opened.value;
  try {
    return ok(await rekey(store, ring, config.vault.namespace, now, progress));
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return err(`The database cannot be read or written (${describeError(error)}). Nothing is lost; run the command again, and it goes on where it was.`);
  } finally {
    await store.close();
  }
}

/** Whether the older keys can be taken out of the file, as far as the store is concerned. */
export function isComplete({ unopened, stillOld }: RekeyReport): boolean {
  return stillOld === 0 && Object.keys(unopened).length === 0;
}

export function formatRekey(report: RekeyReport): string {
  const { records, resealed, unopened, stillOld } = report;
  const lines = [`${records} records, of which ${resealed} were sealed again under the first key.`];
  for (const [kind, count] of Object.entries(unopened)) lines.push(`${count} of kind ${kind} open with no key of the file and were left as they are.`);
  if (stillOld > 0) lines.push(`${stillOld} were written with an older key meanwhile: give every replica the file with the new key first, and run this again.`);
  if (isComplete(report)) lines.push('Every record is sealed under the first key. Sessions and links of browsers that began before still need the older ones: keep those in the file for 30 days.');
  return `${lines.join('\n')}\n`;
}
