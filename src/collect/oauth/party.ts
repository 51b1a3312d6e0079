/**
 * A third party together with our client there: the one to which a person is about to be sent, or the very
 * one to which she was sent and which granted something, whatever has been discovered since.
 */
import * as openid from 'openid-client';
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import { describeError, type Log } from '../../operate/log.ts';
import type { OauthClient } from '../../vault/secrets.ts';
import type { ClientKeys } from './client-keys.ts';
import type { ClientRegistry } from './client.ts';
import type { Account, Provider, Providers } from './provider.ts';
import type { ProviderFault } from './server-metadata.ts';
import { clientInFile, speakTo } from './third-party.ts';
import { isDown } from './token-answers.ts';

export interface PartyParts {
  readonly providers: Providers;
  readonly clients: ClientRegistry;
  readonly keys: ClientKeys;
  readonly fetch: Fetch;
  readonly log: Log;
}

export interface Party {
  readonly provider: Provider;
  readonly configuration: openid.Configuration;
  /** Our client there, where this installation introduced it itself. */
  readonly ownClient: OauthClient | undefined;
}

/** The third party as it describes itself now, and who we are there; introduces us where nobody did. */
export async function meet(parts: PartyParts, account: Account): Promise<Result<Party, ProviderFault>> {
  const provider = await parts.providers.find(account);
  return provider.ok ? asClient(parts, account, provider.value, undefined) : provider;
}

/** @param issuer the one to which the person was sent @param client as whom, where the file does not say it */
export async function meetAgain(parts: PartyParts, account: Account, issuer: string, client: OauthClient | undefined): Promise<Result<Party, ProviderFault>> {
  const provider = await parts.providers.find(account, issuer);
  if (!provider.ok) return provider;
  if (provider.value.metadata.issuer !== issuer) return err({ reason: 'unfit', what: 'it calls itself otherwise than before' });
  return asClient(parts, account, provider.value, client);
}

async function asClient(parts: PartyParts, account: Account, provider: Provider, known: OauthClient | undefined): Promise<Result<Party, ProviderFault>> {
  const named = known === undefined ? clientInFile(account.config, provider.metadata) : ok(undefined);
  if (!named.ok) return named;
  const own = named.value !== undefined ? ok(undefined) : known === undefined ? await parts.clients.introduce(provider.metadata) : ok(known);
  if (!own.ok) return own;
  const client = named.value ?? own.value;
  if (client === undefined) throw new Error('nobody is the client of a third party');
  return ok({ provider, ownClient: own.value, configuration: speakTo(provider, client, account.config, parts.keys, parts.fetch) });
}

/** Notes why a third party cannot be used. @returns the part of it that people are told */
export function noteFault({ log }: PartyParts, { config }: Account, { reason, what }: ProviderFault): ProviderFault['reason'] {
  log.warn({ credential: config.name, outcome: reason, reason: what }, 'the third party of an account cannot be used');
  return reason;
}

/** `denied`: the person or the third party said no. `failed`: the answer does not hold. `unreachable`: there is no answer now. */
export interface Refusal {
  readonly reason: 'denied' | 'failed' | 'unreachable';
  /** The third party's own error code, where it is one word. */
  readonly code?: string;
}

/** Answers with which a third party says that the person would or may not (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const denials: ReadonlySet<string | undefined> = new Set(['access_denied', 'login_required', 'interaction_required', 'consent_required', 'account_selection_required']);
const silences: ReadonlySet<string | undefined> = new Set(['temporarily_unavailable', 'server_error']);

/** What an error of openid-client means; noted without a word that somebody else wrote. @param what failed */
export function noteRefusal({ log }: PartyParts, { config }: Account, error: unknown, what: string): Refusal {
  const isAtHome = error instanceof openid.AuthorizationResponseError;
  const code = isAtHome || error instanceof openid.ResponseBodyError ? oneWord(error.error) : undefined;
  const reason = isAtHome && denials.has(code) ? 'denied' : isDown(error) || silences.has(code) ? 'unreachable' : 'failed';
  log.info({ credential: config.name, outcome: reason, error: code, reason: describeError(error) }, what);
  return { reason, ...(code === undefined ? {} : { code }) };
}

/** Fit to be shown and logged: a code, never a sentence. */
function oneWord(code: string): string | undefined {
  return /^[\w.-]{1,60}$/.test(code) ? code : undefined;
}
