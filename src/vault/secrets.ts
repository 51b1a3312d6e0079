/**
 * The vault: what one person gave for one credential, sealed whole, and the only place where it is
 * plain. A secret is bound to the credential's shape and to the destination that it was given for; when
 * the file changes either, the person is asked again. Opened secrets are kept in memory for `cacheForMs`,
 * so that an ordinary call reads nothing from disk; what another process changes is forgotten as soon as the
 * store tells of it, and after that time in any case. "Could not look" throws UnavailableError.
 */
import type { Clock, Store } from '../stores/store.ts';
import type { KeyRing } from './key-ring.ts';
import { createRecords, type RecordId } from './records.ts';
import { createSecretCache } from './secret-cache.ts';

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
  /** Client ids through which the person gave it or agreed to its use. */
  readonly clients: readonly string[];
  /** Refused by the destination; absent: not that anybody knows. */
  readonly isRejected?: true;
  /** When what stood in this slot was refused lately, in milliseconds since the epoch; goes over to what replaces it. */
  readonly rejectedAt?: readonly number[];
  /** How a connected account is kept alive; absent for what a person typed. */
  readonly grant?: Grant;
}

/** What a third party granted, and to whom: the issuer and the client must be the same when it is renewed. */
export interface Grant {
  readonly issuer: string;
  /** A client that this installation registered itself or describes itself; absent for the one in the file. */
  readonly client?: OauthClient;
  readonly scopes: readonly string[];
  /** The resource that the tokens are for (RFC 8707). */
  readonly resource?: string;
  /** When the access token was issued, when it is to be renewed, and when it ends, in milliseconds since the epoch; absent: nobody knows. */
  readonly issuedAt: number;
  readonly renewAt?: number;
  readonly endsAt?: number;
}

/** A client of a third party as this installation is known there. */
export interface OauthClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly method: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';
}

/** Whether there is something with which it can be renewed. */
export function isRenewable({ grant, fields }: Pick<Secret, 'grant' | 'fields'>): boolean {
  return grant !== undefined && fields['refresh_token'] !== undefined;
}

/** Whether all of these scopes were granted; what is no connected account has none. */
export function hasScopes({ grant }: Secret, scopes: readonly string[]): boolean {
  return scopes.every((scope) => grant?.scopes.includes(scope) === true);
}

/** A client that the identity does not know needs no consent; any other only serves what the person agreed to. */
export function mayServe(secret: Secret, clientId: string | undefined): boolean {
  return clientId === undefined || secret.clients.includes(clientId);
}

export interface RejectionCap {
  readonly times: number;
  readonly withinMs: number;
}

export interface Vault {
  /** The secret that may be used now for this shape and destination; anything else is not there. */
  find(slot: SecretSlot, shape: string, destination: string): Promise<Secret | undefined>;
  /** The same where it is in memory already. `undefined` means: not known here, ask `find`. */
  cached(slot: SecretSlot, shape: string, destination: string): Secret | undefined;
  keep(slot: SecretSlot, secret: Secret): Promise<void>;
  /** The secret as it is stored, whether or not it may be used now. */
  inspect(slot: SecretSlot): Promise<Secret | undefined>;
  /** Lets one more client use what is stored. False: nothing is stored any more. */
  agree(slot: SecretSlot, clientId: string): Promise<boolean>;
  /**
   * Marks a secret that its destination refused, so that it is not used again.
   * @returns `capped` when it was refused `times` times already `withinMs`: then it stays as it is
   */
  reject(slot: SecretSlot, secret: Secret, cap: RejectionCap): Promise<'rejected' | 'capped'>;
  /**
   * One atomic change of what is stored.
   * @param next what shall stand there instead; undefined changes nothing
   * @returns what stands there now; undefined when nothing is stored or nothing was to change
   */
  change(slot: SecretSlot, next: (secret: Secret) => Secret | undefined): Promise<Secret | undefined>;
  /** @returns whether there was anything to remove */
  remove(slot: SecretSlot): Promise<boolean>;
  /** Notes that a secret was used, now and then and never in the way of a call; what nobody uses is deleted. */
  noteUse(slot: SecretSlot, secret: Secret): void;
}

export interface VaultSettings {
  readonly cacheForMs: number;
  readonly deleteUnusedAfterMs: number;
}

const longestNoteUseMs = 600_000;
/** What has expired is not used any more, but her pages can say when it did. */
const expiredStaysMs = 30 * 86_400_000;

export function createVault(store: Store, ring: KeyRing, namespace: string, settings: VaultSettings, now: Clock): Vault {
  const records = createRecords<Secret>(store, ring, namespace, 'secret', 'secret');
  // Counts what was stored and removed, here and elsewhere.
  let changes = 0;
  const cache = createSecretCache<SecretSlot, Secret>(store, { here: slotKey, inStore: (slot) => records.keyOf(recordId(slot)) }, settings.cacheForMs, now, () => { changes += 1; });
  const noteUseEveryMs = Math.min(longestNoteUseMs, settings.deleteUnusedAfterMs / 2);

  const isUsable = (secret: Secret, shape: string, destination: string): boolean => fits(secret, shape, destination) && !isExpired(secret, now());
  const lifetimeMs = (secret: Secret): number => Math.max(1, Math.min(settings.deleteUnusedAfterMs, (secret.expiresAt ?? Infinity) + expiredStaysMs - now()));
  function cached(slot: SecretSlot, shape: string, destination: string): Secret | undefined {
    const secret = cache.get(slot);
    return secret !== undefined && isUsable(secret, shape, destination) ? secret : undefined;
  }
  /** What was stored or removed while something was under way may be newer than it. */
  const isNewest = (changesBefore: number): boolean => changes === changesBefore;
  /** Brings the caches to what was just stored, or removed. */
  function stored(slot: SecretSlot, secret: Secret | undefined): void {
    changes += 1;
    if (secret === undefined) cache.delete(slot);
    else cache.set(slot, secret);
    cache.tell(slot);
  }
  async function change(slot: SecretSlot, next: (secret: Secret) => Secret | undefined): Promise<Secret | undefined> {
    for (;;) {
      const held = await records.get(recordId(slot));
      if (held === undefined) stored(slot, undefined);
      const changed = held === undefined ? undefined : next(held.value);
      if (held === undefined || changed === undefined) return undefined;
      const changesBefore = changes;
      if (!(await records.replace(held, changed, lifetimeMs(changed)))) continue;
      stored(slot, isNewest(changesBefore) ? changed : undefined);
      return changed;
    }
  }

  return {
    async find(slot, shape, destination) {
      const changesBefore = changes;
      const held = await records.get(recordId(slot));
      if (held === undefined || !isUsable(held.value, shape, destination)) return undefined;
      if (isNewest(changesBefore)) cache.set(slot, held.value);
      return held.value;
    },
    cached, change,
    async keep(slot, secret) {
      const changesBefore = changes;
      await records.put(recordId(slot), secret, lifetimeMs(secret));
      stored(slot, isNewest(changesBefore) ? secret : undefined);
    },
    inspect: async (slot) => (await records.get(recordId(slot)))?.value,
    async agree(slot, clientId) {
      return (await change(slot, (secret) => ({ ...secret, clients: [...new Set([...secret.clients, clientId])] }))) !== undefined;
    },
    async reject(slot, refused, cap) {
      let outcome: Secret | 'capped' | undefined;
      await change(slot, (secret) => {
        outcome = rejected(secret, refused, cap, now());
        return outcome === 'capped' ? undefined : outcome;
      });
      return outcome === 'capped' ? 'capped' : 'rejected';
    },
    async remove(slot) {
      try {
        return (await records.take(recordId(slot))) !== undefined;
      } finally {
        // A row that does not open is gone all the same.
        stored(slot, undefined);
      }
    },
    noteUse(slot, secret) {
      if (isNoted(secret, now(), noteUseEveryMs)) return;
      // Marked at once, so that the next call does not note it again while this one writes; a newer secret is left alone.
      if (cache.peek(slot) === secret) cache.set(slot, { ...secret, lastUsedAt: now() });
      // A date that could not be noted stops no call; a failing store is reported by those that need it.
      change(slot, (stored) => ({ ...stored, lastUsedAt: now() })).catch(() => undefined);
    },
  };
}

/** @returns undefined for what was given since: that is another secret, and not refused */
function rejected(secret: Secret, refused: Secret, { times, withinMs }: RejectionCap, time: number): Secret | 'capped' | undefined {
  if (secret.storedAt !== refused.storedAt || secret.isRejected === true) return undefined;
  const lately = (secret.rejectedAt ?? []).filter((at) => at > time - withinMs);
  return lately.length >= times ? 'capped' : { ...secret, isRejected: true, rejectedAt: [...lately, time] };
}

function fits(secret: Secret, shape: string, destination: string): boolean {
  return secret.isRejected !== true && secret.shape === shape && secret.destination === destination;
}

/** The first use is noted whenever it comes: until then nothing says that there was one. */
function isNoted({ storedAt, lastUsedAt }: Secret, time: number, everyMs: number): boolean {
  const isFirst = lastUsedAt === storedAt && time > storedAt;
  return !isFirst && time - lastUsedAt < everyMs;
}

function isExpired({ expiresAt }: Secret, time: number): boolean {
  return expiresAt !== undefined && expiresAt <= time;
}

function recordId(slot: SecretSlot): RecordId {
  return { owner: [slot.issuer, slot.subject], item: [...place(slot.upstream), slot.credential] };
}

/** The `(upstream or shared)` part of an identity; no upstream's name can pass for "shared". */
export function place(upstream: string | undefined): readonly string[] {
  return upstream === undefined ? ['shared'] : ['upstream', upstream];
}

/** One text for each slot, for maps in memory and locks. */
export function slotKey(slot: SecretSlot): string {
  return JSON.stringify([slot.issuer, slot.subject, slot.upstream ?? null, slot.credential]);
}
