/** Addresses of our own pages, as browsers reach them: all from the public URL, never from what a request says. */
import type { Config } from '../config/config.ts';
import { withoutSlash } from '../gateway/endpoint.ts';
import type { Identity } from '../identity/identity.ts';
import type { PageLinks } from './visit.ts';

/** Whether or not a proxy in front takes the public URL's path away, the same pages answer. */
export function pagePrefixes(config: Config): string[] {
  return [...new Set(['', withoutSlash(config.server.publicUrl.pathname)])].map((base) => base + withoutSlash(config.server.pagesPath));
}

export function pagesBase(config: Config): string {
  return withoutSlash(config.server.publicUrl.pathname) + withoutSlash(config.server.pagesPath);
}

export function pageLinks(config: Config, { browserLogin, logoutUrl }: Pick<Identity, 'browserLogin' | 'logoutUrl'>): PageLinks {
  const base = pagesBase(config);
  const signOut = browserLogin !== undefined ? { action: `${base}/auth/logout` } : logoutUrl === undefined ? undefined : { href: logoutUrl };
  return { connect: (ticketId) => connectUrl(config, ticketId), account: `${base}/account`, login: browserLogin === undefined ? undefined : loginUrl(config), signOut };
}

export function loginUrl(config: Config) {
  return (here: string, isSwitch = false): string => `${pagesBase(config)}/auth/login?return=${encodeURIComponent(here)}${isSwitch ? '&switch=1' : ''}`;
}

export function connectUrl(config: Config, ticketId: string): string {
  return `${config.server.publicUrl.origin}${pagesBase(config)}/connect/${ticketId}`;
}
