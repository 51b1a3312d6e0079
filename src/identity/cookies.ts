/**
 * Cookies of the pages. Over https they are `__Host-` cookies (RFC 6265bis §4.1.3.2): no other host and no
 * plain connection can set or read them. Whether it is https is the public URL's to say, because TLS may
 * end in front of this process; on loopback over http the names are plain.
 */
import type { CookieSerializeOptions } from '@fastify/cookie';

export interface CookieRules {
  readonly sessionName: string;
  /** One login may run in each tab, so each has a cookie of its own. */
  loginName(state: string): string;
  /** And so has each journey to a third party. */
  journeyName(state: string): string;
  readonly options: CookieSerializeOptions;
}

export function cookieRules(publicUrl: URL): CookieRules {
  const isSecure = publicUrl.protocol === 'https:';
  const prefix = isSecure ? '__Host-elicitgate' : 'elicitgate';
  return {
    sessionName: `${prefix}-session`,
    loginName: (state) => `${prefix}-login-${state.slice(0, 12)}`,
    journeyName: (state) => `${prefix}-journey-${state.slice(0, 12)}`,
    // Lax: the links are opened from other programs, and the identity provider sends people back by a link.
    options: { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' },
  };
}
