/**
 * The kinds of credential that can be collected, and what differs between them wherever the kind does not
 * matter otherwise. How each kind is asked for on a page is in `pages/`; what a payment needs is not built.
 */
import type { ApiKeyCredential, Credential, OauthCredential } from '../config/config.ts';

export type CollectedCredential = ApiKeyCredential | OauthCredential;

export function isCollected(credential: Credential | undefined): credential is CollectedCredential {
  return credential?.kind === 'apiKey' || credential?.kind === 'oauth';
}

/** How what a person gives is tried before it is stored; an account has been tried by connecting it. */
export function verifyOf(credential: CollectedCredential): ApiKeyCredential['verify'] {
  return credential.kind === 'apiKey' ? credential.verify : undefined;
}

/** Fields of a connected account that must not be seen. */
const accountSecrets: readonly string[] = ['access_token', 'refresh_token', 'id_token'];

/** @returns names of the fields of a stored secret that must never be seen */
export function secretFieldsOf(credential: CollectedCredential): readonly string[] {
  switch (credential.kind) {
    case 'apiKey':
      return credential.fields.filter((field) => field.secret).map((field) => field.name);
    case 'oauth':
      return accountSecrets;
  }
}
