/**
 * Disconnecting, by the person or the operator: a connected account is first given back at its third party
 * (RFC 7009), as far as that can be reached, and then what is stored is erased in any case.
 */
import { UnavailableError } from '../errors.ts';
import { accountOf, secretSlot, type RequiredCredential } from '../gateway/protected-upstream.ts';
import type { Principal } from '../identity/principal.ts';
import type { Audit } from '../operate/audit.ts';
import type { Secret, Vault } from '../vault/secrets.ts';
import type { Accounts } from './oauth/accounts.ts';

export interface DisconnectParts {
  readonly vault: Vault;
  readonly accounts: Accounts;
  readonly audit: Audit;
}

/** @returns whether anything was stored */
export async function disconnect({ vault, accounts, audit }: DisconnectParts, principal: Pick<Principal, 'issuer' | 'subject'>, upstream: string, credential: RequiredCredential): Promise<boolean> {
  const slot = secretSlot(principal, credential);
  const account = accountOf(credential);
  const stored = account === undefined ? undefined : await readable(vault.inspect(slot));
  const outcome = account === undefined || stored === undefined ? undefined : await accounts.revoke(account, stored);
  const isRemoved = await vault.remove(slot);
  if (isRemoved) audit.record('revoked', { principal, upstream, credential: credential.config.name, outcome });
  return isRemoved;
}

/** What does not open is erased all the same. */
async function readable(stored: Promise<Secret | undefined>): Promise<Secret | undefined> {
  try {
    return await stored;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    return undefined;
  }
}
