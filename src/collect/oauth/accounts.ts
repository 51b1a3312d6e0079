/**
 * Connecting accounts: sending a person to a third party with everything that protects her way (PKCE with
 * S256, state, nonce, `resource`), redeeming the code that she brings back, renewing what was granted, and
 * giving it back. Who she is was checked by the caller, each time, before anything here is called.
 */
import * as openid from 'openid-client';
import { err, ok, type Result } from '../../errors.ts';
import type { Clock } from '../../stores/store.ts';
import type { RenewalFault } from '../../vault/refresh.ts';
import type { Secret } from '../../vault/secrets.ts';
import { grantedFrom, type Granted } from './granted.ts';
import type { Journey, Journeys } from './journeys.ts';
import { meet, meetAgain, noteFault, noteRefusal, type PartyParts, type Refusal } from './party.ts';
import type { Account, Provider } from './provider.ts';
import type { ProviderFault } from './server-metadata.ts';
import { clientInFile } from './third-party.ts';

/** `unreachable`: the third party does not answer. `unfit`: the operator must change something. */
export type AccountFault = ProviderFault['reason'];

/** What she is told before she leaves. */
export interface Introduction {
  /** Origin of the page to which she goes. */
  readonly origin: string;
  /** Everything that is asked for. */
  readonly scopes: readonly string[];
}

export interface Departure {
  readonly url: string;
  readonly state: string;
  /** Value of the journey's cookie. */
  readonly browser: string;
}

export type ReturnFault = Refusal | { readonly reason: AccountFault; readonly code?: string };

/** Who leaves, in which login session, from which link. */
export type Traveller = Pick<Journey, 'issuer' | 'subject' | 'sessionDigest' | 'ticketId' | 'credential' | 'language'>;

export interface Accounts {
  readonly journeys: Journeys;
  /** @param also scopes that are wanted beside those that the file asks for */
  introduce(account: Account, also: readonly string[]): Promise<Result<Introduction, AccountFault>>;
  depart(account: Account, also: readonly string[], who: Traveller): Promise<Result<Departure, AccountFault>>;
  /** @param journey hers, and taken @param search the query with which she came back */
  redeem(account: Account, journey: Journey, state: string, search: string): Promise<Result<Granted, ReturnFault>>;
  /** @param mayAsk is asked when the third party is known: a refresh token is used in time or not at all */
  renew(account: Account, secret: Secret, mayAsk: () => boolean): Promise<Result<Granted, RenewalFault>>;
  /** Tells the third party that its tokens are not needed any more (RFC 7009). */
  revoke(account: Account, secret: Secret): Promise<'revoked' | 'not-offered' | 'failed'>;
}

export interface AccountsParts extends PartyParts {
  readonly journeys: Journeys;
  /** `{publicUrl}…/oauth/callback` */
  readonly redirectUri: string;
  readonly now: Clock;
}

export function createAccounts(parts: AccountsParts): Accounts {
  return {
    journeys: parts.journeys,
    introduce: (account, also) => introduce(parts, account, also),
    depart: (account, also, who) => depart(parts, account, also, who),
    redeem: (account, journey, state, search) => redeem(parts, account, journey, state, search),
    renew: (account, secret, mayAsk) => renew(parts, account, secret, mayAsk),
    revoke: (account, secret) => revoke(parts, account, secret),
  };
}

async function introduce(parts: AccountsParts, account: Account, also: readonly string[]): Promise<Result<Introduction, AccountFault>> {
  const provider = await parts.providers.find(account);
  if (!provider.ok) return err(noteFault(parts, account, provider.error));
  const { metadata } = provider.value;
  const client = clientInFile(account.config, metadata);
  if (!client.ok) return err(noteFault(parts, account, client.error));
  return ok({ origin: new URL(metadata.authorization_endpoint).origin, scopes: wanted(provider.value, also) });
}

async function depart(parts: AccountsParts, account: Account, also: readonly string[], who: Traveller): Promise<Result<Departure, AccountFault>> {
  const party = await meet(parts, account);
  if (!party.ok) return err(noteFault(parts, account, party.error));
  const { provider, ownClient, configuration } = party.value;
  const { authorizationParams, scopeSeparator } = account.config;
  const scopes = wanted(provider, also);
  const verifier = openid.randomPKCECodeVerifier();
  // Only an OpenID provider puts it into its answer.
  const nonce = scopes.includes('openid') ? { nonce: openid.randomNonce() } : {};
  const resource = provider.resource === undefined ? {} : { resource: provider.resource };
  const { state, browser } = await parts.journeys.begin({ ...who, ...nonce, ...resource, provider: provider.metadata.issuer, verifier, scopes, ...(ownClient === undefined ? {} : { client: ownClient }) });
  const url = openid.buildAuthorizationUrl(configuration, {
    ...authorizationParams,
    ...nonce,
    ...resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(scopeSeparator === 'comma' ? ',' : ' ') }),
    redirect_uri: parts.redirectUri,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  return ok({ url: url.href, state, browser });
}

/** Errors with which a third party says that it does not know our client. */
const strangers: ReadonlySet<string | undefined> = new Set(['invalid_client', 'unauthorized_client']);

async function redeem(parts: AccountsParts, account: Account, journey: Journey, state: string, search: string): Promise<Result<Granted, ReturnFault>> {
  const party = await meetAgain(parts, account, journey.provider, journey.client);
  if (!party.ok) return err({ reason: noteFault(parts, account, party.error) });
  const { nonce, resource, verifier, scopes, client } = journey;
  const checks = { expectedState: state, pkceCodeVerifier: verifier, ...(nonce === undefined ? {} : { expectedNonce: nonce, idTokenExpected: true }) };
  try {
    const tokens = await openid.authorizationCodeGrant(party.value.configuration, new URL(parts.redirectUri + search), checks, resource === undefined ? {} : { resource });
    return ok(grantedFrom(tokens, { issuer: journey.provider, client, scopes, resource }, undefined, parts.now()));
  } catch (error) {
    const refusal = noteRefusal(parts, account, error, 'an account was not connected');
    if (client !== undefined && strangers.has(refusal.code)) await parts.clients.forget(journey.provider);
    return err(refusal);
  }
}

async function renew(parts: AccountsParts, account: Account, { grant, fields }: Secret, mayAsk: () => boolean): Promise<Result<Granted, RenewalFault>> {
  const refreshToken = fields['refresh_token'];
  if (grant === undefined || refreshToken === undefined) return err('over');
  const party = await meetAgain(parts, account, grant.issuer, grant.client);
  if (!party.ok) {
    noteFault(parts, account, party.error);
    return err('failed');
  }
  if (!mayAsk()) return err('failed');
  try {
    const tokens = await openid.refreshTokenGrant(party.value.configuration, refreshToken, grant.resource === undefined ? {} : { resource: grant.resource });
    return ok(grantedFrom(tokens, grant, fields, parts.now()));
  } catch (error) {
    const { code } = noteRefusal(parts, account, error, 'an account could not be renewed');
    return err(error instanceof openid.ResponseBodyError && code === 'invalid_grant' ? 'over' : 'failed');
  }
}

async function revoke(parts: AccountsParts, account: Account, { grant, fields }: Secret): Promise<'revoked' | 'not-offered' | 'failed'> {
  if (grant === undefined) return 'not-offered';
  const party = await meetAgain(parts, account, grant.issuer, grant.client);
  if (!party.ok) {
    noteFault(parts, account, party.error);
    return 'failed';
  }
  const { provider, configuration } = party.value;
  if (provider.metadata.revocation_endpoint === undefined) return 'not-offered';
  try {
    // The refresh token first: with it the third party ends the whole grant (RFC 7009 §2.1).
    for (const hint of ['refresh_token', 'access_token'] as const) {
      const token = fields[hint];
      if (token !== undefined) await openid.tokenRevocation(configuration, token, { token_type_hint: hint });
    }
    return 'revoked';
  } catch (error) {
    noteRefusal(parts, account, error, 'an account could not be revoked at its third party');
    return 'failed';
  }
}

function wanted(provider: Provider, also: readonly string[]): readonly string[] {
  return [...new Set([...provider.scopes, ...also])];
}
