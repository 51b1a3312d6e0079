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
import type { Finding, Path } from './problem.ts';
import type { Sections } from './sections.ts';

export interface Meaning {
  readonly sections: Sections;
  /** All names that the file gives to credentials, also to those that are wrong. */
  readonly credentialNames: readonly string[];
  /** Whether a value came from the environment or a file, so that no message may quote from it. */
  readonly isFromOutside: (path: Path) => boolean;
  /** Whether something at, above or below the path was left out because it is wrong. */
  readonly isUncertain: (path: Path) => boolean;
}

export type Report = (path: Path, found: string, right: string) => void;

/** @returns everything that does not fit together */
export function checkMeaning(meaning: Meaning): readonly Finding[] {
  const findings: Finding[] = [];
  const report: Report = (path, found, right) => {
    if (!meaning.isUncertain(path)) findings.push({ path, found, right });
  };
  for (const check of [checkServer, checkIdentity, checkCredentials, checkUpstreams, checkInjection]) check(meaning, report);
  return findings;
}
