/**
 * The vault: what one person gave for one credential, sealed whole, and the only place where it is
 * plain. A secret is bound to the credential's shape and to the destination that it was given for; when
 * the file changes either, the person is asked again. Opened secrets are kept in memory for `cacheForMs`,
 * so that an ordinary call reads nothing from disk. "Could not look" throws UnavailableError.
 */
import { LRUCache } from 'lru-cache';
import type { Clock, Store } from '../stores/store.ts';
import type { KeyRing } from './key-ring.ts';
import { createRecords, type Held, type RecordId } from './records.ts';

/** Whose secret, for which credential, where: the identity of a secret. */
export interface SecretSlot {
  readonly issuer: string;
  readonly subject: string;
  /** Name of the upstream; absent for a credential that all upstreams share. */
  readonly upstream?: string;
  readonly credential: string;
}

export interface Secret {
  readonly fields: Readonly<Record<string, string>>;
  /** Digest of the credential's definition for which it was given. */
  readonly shape: string;
  /** Origins to which it may be sent, as they were shown when it was given. */
  readonly destination: string;
  readonly storedAt: number;
  readonly lastUsedAt: number;
  /** Milliseconds since the epoch; absent: does not expire. */
  readonly expiresAt?: number;
}

export interface Vault {
  /** The secret that may be used now for this shape and destination; anything else is not there. */
  find(slot: SecretSlot, shape: string, destination: string): Promise<Secret | undefined>;
  /** The same where it is in memory already. `undefined` means: not known here, ask `find`. */
  cached(slot: SecretSlot, shape: string, destination: string): Secret | undefined;
  keep(slot: SecretSlot, secret: Secret): Promise<void>;
  /** Notes that a secret was used, at most once in ten minutes, and never in the way of a call. */
  noteUse(slot: SecretSlot, secret: Secret): void;
}

export interface VaultSettings {
  readonly cacheForMs: number;
  readonly deleteUnusedAfterMs: number;
}

const noteUseEveryMs = 600_000;
const cachedSecrets = 10_000;

export function createVault(store: Store, ring: KeyRing, namespace: string, settings: VaultSettings, now: Clock): Vault {
  const records = createRecords<Secret>(store, ring, namespace, 'secret', 'secret');
  // A ttl of 0 would mean "for ever" to the cache, so `0s` keeps nothing at all.
  const cache = settings.cacheForMs > 0 ? new LRUCache<string, Secret>({ max: cachedSecrets, ttl: settings.cacheForMs, perf: { now } }) : undefined;

  const isUsable = (secret: Secret, shape: string, destination: string): boolean =>
    secret.shape === shape && secret.destination === destination && (secret.expiresAt === undefined || secret.expiresAt > now());

  function lifetimeMs(secret: Secret): number {
    const unused = settings.deleteUnusedAfterMs;
    return secret.expiresAt === undefined ? unused : Math.max(1, Math.min(unused, secret.expiresAt - now()));
  }
  async function rewriteUse(slot: SecretSlot, held: Held<Secret>): Promise<void> {
    const used = { ...held.value, lastUsedAt: now() };
    if (await records.replace(held, used, lifetimeMs(used))) cache?.set(cacheKey(slot), used);
  }

  return {
    async find(slot, shape, destination) {
      const held = await records.get(recordId(slot));
      if (held === undefined || !isUsable(held.value, shape, destination)) return undefined;
      cache?.set(cacheKey(slot), held.value);
      return held.value;
    },
    cached(slot, shape, destination) {
      const secret = cache?.get(cacheKey(slot));
      return secret !== undefined && isUsable(secret, shape, destination) ? secret : undefined;
    },
    async keep(slot, secret) {
      await records.put(recordId(slot), secret, lifetimeMs(secret));
      cache?.set(cacheKey(slot), secret);
    },
    noteUse(slot, secret) {
      if (now() - secret.lastUsedAt < noteUseEveryMs) return;
      // Marked at once, so that the next call does not note it again while this one writes.
      cache?.set(cacheKey(slot), { ...secret, lastUsedAt: now() });
      void records
        .get(recordId(slot))
        .then((held) => (held === undefined ? undefined : rewriteUse(slot, held)))
        .catch(() => {
          // A date that could not be noted stops no call; a failing store is reported by those that need it.
        });
    },
  };
}

function recordId(slot: SecretSlot): RecordId {
  return { owner: [slot.issuer, slot.subject], item: [...place(slot.upstream), slot.credential] };
}

/** The `(upstream or shared)` part of an identity; no upstream's name can pass for "shared". */
export function place(upstream: string | undefined): readonly string[] {
  return upstream === undefined ? ['shared'] : ['upstream', upstream];
}

function cacheKey(slot: SecretSlot): string {
  return JSON.stringify([slot.issuer, slot.subject, slot.upstream ?? null, slot.credential]);
}
