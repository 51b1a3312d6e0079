/**
 * Connecting accounts: sending a person to a third party with everything that protects her way (PKCE with
 * S256, state, nonce, `resource`), redeeming the code that she brings back, renewing what was granted, and
 * giving it back. Who she is was checked by the caller, each time, before anything here is called.
 */
import * as openid from 'openid-client';
import { err, ok, type Result } from '../../errors.ts';
import type { Fetch } from '../../identity/fetch.ts';
import { describeError, type Log } from '../../operate/log.ts';
import type { Clock } from '../../stores/store.ts';
import type { RenewalFault } from '../../vault/refresh.ts';
import type { OauthClient, Secret } from '../../vault/secrets.ts';
import type { ClientKeys } from './client-keys.ts';
import type { ClientRegistry } from './client.ts';
import type { Journey, Journeys } from './journeys.ts';
import type { Account, Provider, Providers } from './provider.ts';
import type { ProviderFault } from './server-metadata.ts';
import { clientInFile, speakTo } from './third-party.ts';
import { isDown } from './token-answers.ts';
import { grantedFrom, type Granted } from './granted.ts';

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
  readonly browser: string;
}

/** `denied`: she or the third party said no. `failed`: the answer does not hold. */
export type ReturnFault = { readonly reason: 'denied' | 'failed' | AccountFault; /** The third party's own error code, where it is one word. */ readonly code?: string };

export interface Accounts {
  readonly journeys: Journeys;
  /** @param also scopes that are wanted beside those that the file asks for */
  introduce(account: Account, also: readonly string[]): Promise<Result<Introduction, AccountFault>>;
  depart(account: Account, also: readonly string[], journey: Pick<Journey, 'issuer' | 'subject' | 'sessionDigest' | 'ticketId'>): Promise<Result<Departure, AccountFault>>;
  /** @param search the query with which she came back @param journey hers, and taken */
  redeem(account: Account, journey: Journey, state: string, search: string): Promise<Result<Granted, ReturnFault>>;
  renew(account: Account, secret: Secret): Promise<Result<Granted, RenewalFault>>;
  /** Tells the third party that its tokens are not needed any more (RFC 7009). */
  revoke(account: Account, secret: Secret): Promise<'revoked' | 'not-offered' | 'failed'>;
}

export interface AccountsParts {
  readonly providers: Providers;
  readonly clients: ClientRegistry;
  readonly keys: ClientKeys;
  readonly journeys: Journeys;
  readonly redirectUri: string;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly now: Clock;
}

/** Answers with which a third party says that the person would or may not (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const denials: ReadonlySet<string> = new Set(['access_denied', 'login_required', 'interaction_required', 'consent_required', 'account_selection_required']);
const oddities: ReadonlySet<string> = new Set(['invalid_client', 'unauthorized_client']);

export function createAccounts(parts: AccountsParts): Accounts {
  const { providers, clients, keys, journeys, redirectUri, fetch, log, now } = parts;

  function note(account: Account, fault: ProviderFault): { readonly ok: false; readonly error: AccountFault } {
    log.warn({ credential: account.config.name, outcome: fault.reason, reason: fault.what }, 'an account cannot be connected: the third party');
    return err(fault.reason);
  }
  /** Our client there, and whether this installation introduced it itself. */
  async function clientAt(account: Account, { metadata }: Provider): Promise<Result<{ readonly client: OauthClient; readonly isOwn: boolean }, ProviderFault>> {
    const named = clientInFile(account.config, metadata);
    if (!named.ok) return named;
    if (named.value !== undefined) return ok({ client: named.value, isOwn: false });
    const introduced = await clients.introduce(metadata);
    return introduced.ok ? ok({ client: introduced.value, isOwn: true }) : introduced;
  }
  /** The third party as it was when the person left or the grant was made: the same issuer, the same client. */
  async function sameParty(account: Account, issuer: string, client: OauthClient | undefined): Promise<Result<{ readonly provider: Provider; readonly configuration: openid.Configuration; readonly client: OauthClient }, ProviderFault>> {
    const provider = await providers.find(account, issuer);
    if (!provider.ok) return provider;
    if (provider.value.metadata.issuer !== issuer) return err({ reason: 'unfit', what: 'it calls itself otherwise now' });
    const known = client === undefined ? await clientAt(account, provider.value) : ok({ client });
    if (!known.ok) return known;
    return ok({ provider: provider.value, client: known.value.client, configuration: await speakTo(provider.value, known.value.client, account.config, keys, fetch) });
  }
  function fault(account: Account, error: unknown, what: string): ReturnFault {
    const code = error instanceof openid.AuthorizationResponseError || error instanceof openid.ResponseBodyError ? oneWord(error.error) : undefined;
    const isDenial = error instanceof openid.AuthorizationResponseError && denials.has(error.error);
    const isSilent = isDown(error) || code === 'temporarily_unavailable' || code === 'server_error';
    const reason = isDenial ? 'denied' : isSilent ? 'unreachable' : 'failed';
    log.info({ credential: account.config.name, outcome: reason, error: code, reason: describeError(error) }, what);
    return { reason, ...(code === undefined ? {} : { code }) };
  }

  return {
    journeys,
    async introduce(account, also) {
      const provider = await providers.find(account);
      if (!provider.ok) return note(account, provider.error);
      const named = clientInFile(account.config, provider.value.metadata);
      if (!named.ok) return note(account, named.error);
      return ok({ origin: new URL(provider.value.metadata.authorization_endpoint).origin, scopes: wanted(provider.value, also) });
    },
    async depart(account, also, who) {
      const found = await providers.find(account);
      if (!found.ok) return note(account, found.error);
      const provider = found.value;
      const known = await clientAt(account, provider);
      if (!known.ok) return note(account, known.error);
      const { client, isOwn } = known.value;
      const scopes = wanted(provider, also);
      const verifier = openid.randomPKCECodeVerifier();
      const nonce = scopes.includes('openid') ? openid.randomNonce() : undefined;
      const { resource } = provider;
      const { state, browser } = await journeys.begin({
        ...who,
        provider: provider.metadata.issuer,
        verifier,
        scopes,
        ...(nonce === undefined ? {} : { nonce }),
        ...(isOwn ? { client } : {}),
        ...(resource === undefined ? {} : { resource }),
      });
      const configuration = await speakTo(provider, client, account.config, keys, fetch);
      const url = openid.buildAuthorizationUrl(configuration, {
        ...account.config.authorizationParams,
        redirect_uri: redirectUri,
        ...(scopes.length === 0 ? {} : { scope: scopes.join(account.config.scopeSeparator === 'comma' ? ',' : ' ') }),
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(nonce === undefined ? {} : { nonce }),
        ...(resource === undefined ? {} : { resource }),
      });
      return ok({ url: url.href, state, browser });
    },
    async redeem(account, journey, state, search) {
      const party = await sameParty(account, journey.provider, journey.client);
      if (!party.ok) return err({ reason: note(account, party.error).error });
      const { configuration } = party.value;
      try {
        const tokens = await openid.authorizationCodeGrant(
          configuration,
          new URL(redirectUri + search),
          { expectedState: state, pkceCodeVerifier: journey.verifier, ...(journey.nonce === undefined ? {} : { expectedNonce: journey.nonce, idTokenExpected: true }) },
          journey.resource === undefined ? {} : { resource: journey.resource },
        );
        return ok(grantedFrom(tokens, { issuer: journey.provider, client: journey.client, scopes: journey.scopes, resource: journey.resource }, undefined, now()));
      } catch (error) {
        const told = fault(account, error, 'an account was not connected');
        if (journey.client !== undefined && told.code !== undefined && oddities.has(told.code)) await clients.forget(journey.provider);
        return err(told);
      }
    },
    async renew(account, secret) {
      const { grant, fields } = secret;
      const refreshToken = fields['refresh_token'];
      if (grant === undefined || refreshToken === undefined) return err('over');
      const party = await sameParty(account, grant.issuer, grant.client);
      if (!party.ok) {
        note(account, party.error);
        return err('failed');
      }
      try {
        const tokens = await openid.refreshTokenGrant(party.value.configuration, refreshToken, grant.resource === undefined ? {} : { resource: grant.resource });
        return ok(grantedFrom(tokens, grant, fields, now()));
      } catch (error) {
        const { code } = fault(account, error, 'an account could not be renewed');
        return err(error instanceof openid.ResponseBodyError && code === 'invalid_grant' ? 'over' : 'failed');
      }
    },
    async revoke(account, { grant, fields }) {
      if (grant === undefined) return 'not-offered';
      const party = await sameParty(account, grant.issuer, grant.client);
      if (!party.ok) {
        note(account, party.error);
        return 'failed';
      }
      if (party.value.provider.metadata.revocation_endpoint === undefined) return 'not-offered';
      const { refresh_token: refreshToken, access_token: accessToken } = fields;
      // The refresh token first: with it the third party ends the grant (RFC 7009 §2.1).
      const tokens = [{ token: refreshToken, hint: 'refresh_token' }, { token: accessToken, hint: 'access_token' }];
      try {
        for (const { token, hint } of tokens) if (token !== undefined) await openid.tokenRevocation(party.value.configuration, token, { token_type_hint: hint });
        return 'revoked';
      } catch (error) {
        fault(account, error, 'an account could not be revoked at its third party');
        return 'failed';
      }
    },
  };
}

function wanted(provider: Provider, also: readonly string[]): readonly string[] {
  return [...new Set([...provider.scopes, ...also])];
}

/** Fit to be shown and logged: a code, never a sentence that somebody else wrote (RFC 6749 §4.1.2.1). */
function oneWord(code: string): string | undefined {
  return /^[\w.-]{1,60}$/.test(code) ? code : undefined;
}
