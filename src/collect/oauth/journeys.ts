/**
 * Journeys: one person's way to a third party and back (RFC 6749 §4.1). Written down when she leaves, found
 * only by the browser that she left with, taken once, gone after ten minutes.
 */
import { createHash } from 'node:crypto';
import type { Store } from '../../stores/store.ts';
import { randomId, type KeyRing } from '../../vault/key-ring.ts';
import { createRecords, type Held } from '../../vault/records.ts';
import type { OauthClient } from '../../vault/secrets.ts';

export interface Journey {
  /** Who left, and in which login session. */
  readonly issuer: string;
  readonly subject: string;
  readonly sessionDigest: string;
  readonly ticketId: string;
  /** The credential that she is about to give, which she may have picked among several. */
  readonly credential: string;
  /** Of our pages, as she chose it. */
  readonly language: string;
  /** The third party to which she was sent. */
  readonly provider: string;
  readonly verifier: string;
  readonly nonce?: string;
  /** As far as the file does not name it. */
  readonly client?: OauthClient;
  readonly scopes: readonly string[];
  readonly resource?: string;
}

interface Stored extends Journey {
  readonly browserDigest: string;
}

export interface Journeys {
  /** @returns the state that comes back, and the secret of the browser */
  begin(journey: Journey): Promise<{ readonly state: string; readonly browser: string }>;
  /** Looks without taking, for the checks. @param browser what the browser's cookie says */
  find(state: string, browser: string | undefined): Promise<FoundJourney | undefined>;
}

export interface FoundJourney {
  readonly journey: Journey;
  /** False: somebody else was faster, or it has ended. */
  take(): Promise<boolean>;
}

export const journeyMs = 600_000;

export function createJourneys(store: Store, ring: KeyRing, namespace: string): Journeys {
  const records = createRecords<Stored>(store, ring, namespace, 'transaction');
  const recordId = (state: string) => ({ owner: ['state'], item: [state] });
  return {
    async begin(journey) {
      const [state, browser] = [randomId(), randomId()];
      await records.put(recordId(state), { ...journey, browserDigest: digest(browser) }, journeyMs);
      return { state, browser };
    },
    async find(state, browser) {
      const held: Held<Stored> | undefined = await records.get(recordId(state));
      if (held === undefined || browser === undefined || digest(browser) !== held.value.browserDigest) return undefined;
      return { journey: held.value, take: async () => (await records.takeHeld(held)) !== undefined };
    },
  };
}

/** What is compared but need not be known. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
