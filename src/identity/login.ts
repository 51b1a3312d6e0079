/**
 * Login of people in the browser at the identity provider of the callers' tokens (OpenID Connect Core
 * §3.1, with PKCE, state and nonce). The transaction is bound to the browser that began it and is taken
 * once, and both are checked before the code is redeemed. Where the person goes afterwards was written
 * down at the beginning; nothing that comes back can change it.
 */
import { createHash } from 'node:crypto';
import * as openid from 'openid-client';
import { err, ok, type Result } from '../errors.ts';
import { describeError, type Log } from '../operate/log.ts';
import type { Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords } from '../vault/records.ts';
import { principalFrom } from './claims.ts';
import { isSilence, type Issuer } from './issuer.ts';
import type { Principal } from './principal.ts';

export interface LoginSettings {
  readonly scopes: readonly string[];
  readonly subjectClaim: string;
  /** `{publicUrl}…/auth/callback` */
  readonly redirectUri: string;
}

export interface LoginStart {
  /** The identity provider's page. */
  readonly url: string;
  readonly state: string;
  /** Value of the transaction's cookie. */
  readonly browser: string;
}

export interface LoginEnd {
  readonly principal: Principal;
  readonly returnTo: string;
}

export interface LoginFault {
  /** `stale`: no such transaction in this browser (late, twice, begun elsewhere); `denied`: the provider or the person said no; `failed`: the answer does not hold. */
  readonly reason: 'stale' | 'denied' | 'failed' | 'unavailable';
  /** Where she was going, as far as it is known. */
  readonly returnTo?: string;
}

export interface Login {
  /**
   * @param returnTo a path of ours
   * @param options.isForced asks for the account again; @param options.language a hint for the provider's pages
   */
  begin(returnTo: string, options: { readonly isForced: boolean; readonly language: string }): Promise<Result<LoginStart, 'unavailable'>>;
  /** @param search query of the callback; @param browserOf the cookie of a transaction */
  finish(search: string, browserOf: (state: string) => string | undefined): Promise<Result<LoginEnd, LoginFault>>;
}

interface Transaction {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo: string;
  readonly browserDigest: string;
}

const transactionMs = 600_000;
/** Answers with which a provider says that the person may or would not (OpenID Connect Core §3.1.2.6). */
const denials: ReadonlySet<string> = new Set(['access_denied', 'login_required', 'interaction_required', 'consent_required', 'account_selection_required']);

export function createLogin(settings: LoginSettings, issuer: Issuer, store: Store, ring: KeyRing, namespace: string, log: Log): Login {
  const transactions = createRecords<Transaction>(store, ring, namespace, 'login');
  const recordId = (state: string) => ({ owner: ['state'], item: [state] });

  async function configuration(): Promise<Result<openid.Configuration, 'unavailable'>> {
    try {
      return ok(await issuer.configuration());
    } catch {
      log.warn({ issuer: issuer.issuer }, 'a login failed: the issuer cannot be asked');
      return err('unavailable');
    }
  }
  /** The transaction, taken, if it was begun in this browser. */
  async function take(state: string, browser: string | undefined): Promise<Transaction | undefined> {
    const held = await transactions.get(recordId(state));
    if (held === undefined || browser === undefined || digest(browser) !== held.value.browserDigest) return undefined;
    return transactions.takeHeld(held);
  }
  async function redeem(config: openid.Configuration, search: string, state: string, transaction: Transaction): Promise<Result<Principal, LoginFault['reason']>> {
    try {
      const tokens = await openid.authorizationCodeGrant(config, new URL(settings.redirectUri + search), {
        expectedState: state,
        expectedNonce: transaction.nonce,
        pkceCodeVerifier: transaction.verifier,
        idTokenExpected: true,
      });
      const principal = principalFrom({ ...tokens.claims(), azp: undefined }, issuer.issuer, settings.subjectClaim);
      if (principal.ok) {
        // A browser session has an end of its own, and is not bound to a client.
        const { subject, name } = principal.value;
        return ok({ issuer: issuer.issuer, subject, name });
      }
      log.warn({ issuer: issuer.issuer, subjectClaim: settings.subjectClaim, reason: principal.error }, 'a login failed: the id token names nobody');
      return err('failed');
    } catch (error) {
      const reason = reasonOf(error);
      log.info({ issuer: issuer.issuer, outcome: reason, reason: describeError(error) }, 'a login failed');
      return err(reason);
    }
  }

  return {
    async begin(returnTo, { isForced, language }) {
      const config = await configuration();
      if (!config.ok) return config;
      const [state, nonce, browser, verifier] = [randomId(), randomId(), randomId(), openid.randomPKCECodeVerifier()];
      await transactions.put(recordId(state), { verifier, nonce, returnTo, browserDigest: digest(browser) }, transactionMs);
      const url = openid.buildAuthorizationUrl(config.value, {
        redirect_uri: settings.redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ui_locales: language,
        ...(isForced ? { prompt: 'login' } : {}),
      });
      return ok({ url: url.href, state, browser });
    },
    async finish(search, browserOf) {
      const state = new URLSearchParams(search).getAll('state');
      const [only] = state;
      const transaction = only === undefined || state.length !== 1 ? undefined : await take(only, browserOf(only));
      if (only === undefined || transaction === undefined) return err({ reason: 'stale' });
      const { returnTo } = transaction;
      const config = await configuration();
      const principal = config.ok ? await redeem(config.value, search, only, transaction) : config;
      return principal.ok ? ok({ principal: principal.value, returnTo }) : err({ reason: principal.error, returnTo });
    },
  };
}

function reasonOf(error: unknown): LoginFault['reason'] {
  if (error instanceof openid.AuthorizationResponseError) return denials.has(error.error) ? 'denied' : 'failed';
  return isSilence(error) ? 'unavailable' : 'failed';
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
