/**
 * The step that keeps connected accounts alive: an access token that is about to end is renewed before it
 * goes along. While it cannot be renewed, it is used until its end; after that nothing is sent without it.
 */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { isRenewable, type Secret } from '../vault/secrets.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { HeldCredential } from './decide.ts';
import type { Gateway } from './gateway.ts';

export function freshen(gateway: Gateway): Step {
  return (call) => {
    for (const { secret } of call.held) {
      if (secret.grant !== undefined && isDue(secret, gateway.now())) return freshenAll(gateway, call);
    }
    return undefined;
  };
}

function isDue(secret: Secret, time: number): boolean {
  const renewAt = secret.grant?.renewAt;
  return renewAt !== undefined && renewAt <= time && isRenewable(secret);
}

async function freshenAll(gateway: Gateway, call: Call): Promise<StepResult> {
  const isWanted = ({ credential }: HeldCredential): boolean => call.required.some(({ anyOf }) => anyOf.includes(credential));
  try {
    const all = await Promise.all(call.held.map(async (held) => ({ held, fresh: await freshOf(gateway, call, held) })));
    if (all.some(({ held, fresh }) => fresh === 'unavailable' && isWanted(held))) return call.refuse('account-unavailable');
    call.held = all.flatMap(({ fresh }) => (typeof fresh === 'string' ? [] : [fresh]));
    call.scrubber?.add(call.held);
    return undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a renewed account could not be stored');
    return call.refuse('unavailable');
  }
}

async function freshOf(gateway: Gateway, call: Call, held: HeldCredential): Promise<HeldCredential | 'ended' | 'unavailable'> {
  if (!isDue(held.secret, gateway.now())) return held;
  const renewed = await gateway.renewals.renew(call.principal, call.upstream.config.name, held);
  if (renewed.ok) return { ...held, secret: renewed.value };
  const isStillGood = renewed.error === 'unavailable' && (held.secret.grant?.endsAt ?? 0) > gateway.now();
  return isStillGood ? held : renewed.error;
}
