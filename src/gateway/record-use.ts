/**
 * The step before anything is injected: the use of each secret is on the audit trail, or nothing goes
 * upstream.
 */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import type { Call, Step } from './call.ts';
import type { Gateway } from './gateway.ts';
import { secretSlot } from './protected-upstream.ts';
import { targetFacts } from './requested.ts';

export function recordUse(gateway: Gateway): Step {
  return (call) => {
    if (call.held.length === 0) return undefined;
    try {
      record(gateway, call);
      return undefined;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a use could not be recorded, so nothing was injected');
      return call.refuse('unavailable');
    }
  };
}

function record(gateway: Gateway, { principal, upstream, client, held, target }: Call): void {
  for (const { credential, secret } of held) {
    gateway.audit.record('used', { principal, upstream: upstream.config.name, credential: credential.config.name, ...targetFacts(target), clientName: client.name });
    gateway.vault.noteUse(secretSlot(principal, credential), secret);
  }
}
