/** Where a credential's values go beside the upstream itself. */
import type { Credential } from './config.ts';

/** The origin of the address at which the values are tried before they are stored; none or one. */
export function verifyOrigin(credential: Credential): readonly string[] {
  const verify = credential.kind === 'apiKey' ? credential.verify : undefined;
  return verify !== undefined && 'url' in verify ? [verify.url.origin] : [];
}
