/**
 * What was opened with a secret does not outlive it: when one is replaced, refused or taken away, the
 * processes and connections that hold it end, after the calls that are under way.
 */
import { personKey } from '../identity/principal.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import type { SecretSlot, Vault } from '../vault/secrets.ts';

/** @returns the same vault, whose changes the upstreams hear of */
export function forgetWithSecrets(vault: Vault, upstreams: readonly Upstream[]): Vault {
  const forget = ({ issuer, subject }: SecretSlot): void => {
    const person = personKey({ issuer, subject, name: '' });
    for (const upstream of upstreams) upstream.forget?.(person);
  };
  return {
    ...vault,
    async keep(slot, secret) {
      await vault.keep(slot, secret);
      forget(slot);
    },
    async remove(slot) {
      const removed = await vault.remove(slot);
      forget(slot);
      return removed;
    },
    async reject(slot, secret, cap) {
      const outcome = await vault.reject(slot, secret, cap);
      if (outcome === 'rejected') forget(slot);
      return outcome;
    },
  };
}
