/** Renewing connected accounts, as the gateway needs it: whose, which, and what was found in its place. */
import type { Accounts } from '../collect/oauth/accounts.ts';
import type { Result } from '../errors.ts';
import type { Principal } from '../identity/principal.ts';
import type { Audit } from '../operate/audit.ts';
import type { Refresher, RefreshFault } from '../vault/refresh.ts';
import type { Secret } from '../vault/secrets.ts';
import type { HeldCredential } from './decide.ts';
import { accountOf, secretSlot } from './protected-upstream.ts';

export interface Renewals {
  /** @param held what a call found, and what is too old or was refused */
  renew(principal: Principal, upstream: string, held: HeldCredential): Promise<Result<Secret, RefreshFault>>;
}

export function createRenewals(refresher: Refresher, accounts: Accounts, audit: Audit): Renewals {
  return {
    async renew(principal, upstream, { credential, secret }) {
      const account = accountOf(credential);
      if (account === undefined) throw new Error(`the credential ${credential.config.name} is no account`);
      const facts = { principal, upstream, credential: credential.config.name };
      return refresher.refresh({
        slot: secretSlot(principal, credential),
        seen: secret,
        ended: () => { audit.record('ended', facts); },
        async renew(stored, mayAsk) {
          const granted = await accounts.renew(account, stored, mayAsk);
          if (granted.ok) audit.record('refreshed', facts);
          return granted;
        },
      });
    },
  };
}
