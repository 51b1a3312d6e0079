/**
 * The one exception of the relay's rule that nothing is sent twice: a 401 proves that a call was not
 * executed, so where the account that it carried can be renewed, it is renewed and the call is sent once
 * more. And the other thing an upstream says about a token: that it lacks a scope (RFC 6750 §3.1).
 */
import { readChallenge, scopesIn } from '../collect/oauth/protected-resource.ts';
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { hasScopes, isRenewable } from '../vault/secrets.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { HeldCredential } from './decide.ts';
import { ask } from './ask.ts';
import type { Gateway } from './gateway.ts';
import { decideWith } from './look-up.ts';
import type { AnswerHead } from './relay.ts';
import { recordUse } from './record-use.ts';

/** A token that is so young does not get better by being renewed; an upstream that refuses all is not renewed for ever. */
const youngMs = 10_000;

function mayRenew(gateway: Gateway, { secret }: HeldCredential): boolean {
  return isRenewable(secret) && gateway.now() - (secret.grant?.issuedAt ?? 0) >= youngMs;
}

export function mayResend(gateway: Gateway, call: Call, status: number): boolean {
  return status === 401 && !call.isResent && call.idText !== undefined && call.held.some((held) => mayRenew(gateway, held));
}

/**
 * Renews what the call carried.
 * @returns the answer to the call, or undefined when it is to be sent once more
 */
export async function renewRefused(gateway: Gateway, call: Call): Promise<Answer | undefined> {
  call.isResent = true;
  try {
    const renewed = await Promise.all(call.held.map(async (held) => ({ held, result: mayRenew(gateway, held) ? await gateway.renewals.renew(call.principal, call.upstream.config.name, held) : undefined })));
    if (renewed.some(({ result }) => result?.ok === false && result.error === 'unavailable')) return call.refuse('account-unavailable');
    call.held = renewed.flatMap(({ held, result }) => (result === undefined ? [held] : result.ok ? [{ ...held, secret: result.value }] : []));
    call.scrubber?.add(call.held);
    const decision = decideWith(gateway, call, call.held);
    if (decision.kind === 'elicit' && call.idText !== undefined) return await ask(gateway, call, decision, call.idText);
    const refused = await recordUse(gateway)(call);
    return refused === 'taken' ? undefined : refused;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a refused account could not be renewed');
    return call.refuse('unavailable');
  }
}

/**
 * The question for scopes that the upstream says are missing.
 * @returns undefined when it says nothing of the kind, or names only what was granted already
 */
export function askForScopes(gateway: Gateway, call: Call, { status, headers }: AnswerHead): Promise<Answer> | undefined {
  const account = status === 403 ? call.held.find(({ credential }) => credential.upstreamUrl !== undefined) : undefined;
  const { idText } = call;
  if (account === undefined || idText === undefined) return undefined;
  const { error, scope } = readChallenge([headers['www-authenticate']].flat().join(', '));
  const scopes = error === 'insufficient_scope' && scope !== undefined ? scopesIn(scope) : [];
  if (hasScopes(account.secret, scopes)) return undefined;
  const decision = decideWith(gateway, call, [], [{ anyOf: [account.credential], scopes }]);
  return decision.kind === 'elicit' ? ask(gateway, call, decision, idText) : undefined;
}
