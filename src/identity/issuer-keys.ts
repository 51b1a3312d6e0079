/**
 * The keys of an issuer (RFC 7517). They are read when they are first needed and kept: a token with an
 * unknown key id makes them be read again at most once in 30 s, old ones are read again in the background
 * so that a withdrawn key is forgotten, and while they cannot be read those that are known go on.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../stores/store.ts';
import type { Fetch } from './fetch.ts';

/** The issuer could not be asked; what is known of it goes on. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}

const firstAgainAfterMs = 5_000;
const unknownKeyAgainAfterMs = 30_000;
const freshMs = 600_000;

/**
 * @param address where the keys are; may itself ask the issuer
 * @returns a key resolver for jose; throws IssuerUnavailable when the keys would be needed and cannot be read
 */
export function createIssuerKeys(address: () => Promise<URL>, fetch: Fetch, now: Clock): JWTVerifyGetKey {
  let known: ReturnType<typeof createLocalJWKSet> | undefined;
  let askedAt = -Infinity;
  let hasFailed = false;
  let reading: Promise<void> | undefined;

  async function readNow(): Promise<void> {
    askedAt = now();
    hasFailed = true;
    try {
      const { href } = await address();
      const answer = await fetch(href, { headers: { accept: 'application/jwk-set+json, application/json' } });
      if (answer.status !== 200) throw new IssuerUnavailable('the address of the keys does not answer with 200');
      known = createLocalJWKSet((await answer.json()) as JSONWebKeySet);
      hasFailed = false;
    } catch (cause) {
      throw new IssuerUnavailable('the keys cannot be read', { cause });
    }
  }
  function read(): Promise<void> {
    reading ??= readNow().finally(() => { reading = undefined; });
    return reading;
  }
  async function readFirst(): Promise<ReturnType<typeof createLocalJWKSet>> {
    if (reading === undefined && now() - askedAt < firstAgainAfterMs) throw new IssuerUnavailable('the keys could not be read a moment ago');
    await read();
    if (known === undefined) throw new IssuerUnavailable('there are no keys');
    return known;
  }

  return async (header, token) => {
    const keys = known ?? (await readFirst());
    if (now() - askedAt > freshMs) read().catch(() => undefined);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const mayAsk = reading !== undefined || now() - askedAt >= unknownKeyAgainAfterMs;
      if (mayAsk) await read();
      // Whether the key is one of the issuer's is not known while its keys cannot be read.
      else if (hasFailed) throw new IssuerUnavailable('the keys could not be read a moment ago');
      return (known ?? keys)(header, token);
    }
  };
}
