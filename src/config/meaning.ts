/**
 * What the keys of a file mean together: everything that a single value cannot show. Each check looks
 * at what is right by itself and reports all it finds. What the schema found wrong was left out before;
 * a finding about such a place, or one that only follows from its absence, is not reported.
 */
import { checkCredentials } from './check-credentials.ts';
import { checkIdentity } from './check-identity.ts';
import { checkInjection } from './check-injection.ts';
import { checkServer } from './check-server.ts';
import { checkUpstreams } from './check-upstreams.ts';
import type { Finding } from './problem.ts';
import type { Meaning, Report } from './sections.ts';

/** @returns everything that does not fit together */
export function checkMeaning(meaning: Meaning): readonly Finding[] {
  const findings: Finding[] = [];
  const report: Report = (path, found, right) => {
    if (meaning.isUncertain(path)) return;
    findings.push({ path, found: meaning.isFromOutside(path) ? '[set]' : found, right });
  };
  for (const check of [checkServer, checkIdentity, checkCredentials, checkUpstreams, checkInjection]) check(meaning, report);
  return findings;
}
