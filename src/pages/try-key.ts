/**
 * Between the form and the vault: what a person gave is tried where the file wants it. Only when nobody
 * could say whether it is good may she choose to store it all the same, and then it is tried once more.
 */
import { textIn } from '../config/text.ts';
import { verifyOf } from '../collect/kinds.ts';
import type { Verdict } from '../collect/verify.ts';
import type { CheckedVisit, Pages } from './visit.ts';

export interface Tried {
  readonly verdict: Verdict;
  readonly mayStore: boolean;
}

/** @returns undefined where nothing is tried */
export async function tryKey(pages: Pages, visit: CheckedVisit, fields: Readonly<Record<string, string>>): Promise<Tried | undefined> {
  const verify = verifyOf(visit.asked.credential.config);
  if (verify === undefined) return undefined;
  const verdict = await pages.verify(visit.asked, fields);
  const isAnyway = verify.orStoreAnyway && visit.form['action'] === 'store-anyway';
  return { verdict, mayStore: verdict === 'good' || (isAnyway && verdict !== 'refused') };
}

/** What the page says of the trial: who is asked, and how it went. */
export function trialOf({ asked }: CheckedVisit, language: string, verdict: Verdict | undefined) {
  const verify = verifyOf(asked.credential.config);
  if (verify === undefined) return undefined;
  const judge = 'url' in verify ? verify.url.host : textIn(asked.upstream.title, language);
  return { judge, verdict: verdict === 'good' ? undefined : verdict, canStoreAnyway: verify.orStoreAnyway };
}
