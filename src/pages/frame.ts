/** What surrounds every page: the operator's name and links in the visitor's language, and the switch between languages. */
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import type { Visitor } from '../identity/visitor.ts';
import type { Frame } from './views.ts';
import type { PageLinks, Pages } from './visit.ts';
import { chooseLanguage, wordsIn } from './words.ts';

/** @param styleUrl the style sheet as browsers reach it */
export function createFrame(pages: Config['pages'], links: PageLinks, styleUrl: string): Pages['frame'] {
  const offered = pages.locales;
  const logoUrl = pages.logo === undefined ? undefined : `data:${pages.logo.mediaType};base64,${readFileSync(pages.logo.path, 'base64')}`;
  return (request: FastifyRequest, visitor?: Visitor, here?: string, known?: string): Frame => {
    const { lang } = request.query as { readonly lang?: unknown };
    const language = chooseLanguage(request.headers['accept-language'], known ?? (typeof lang === 'string' ? lang : undefined), offered);
    return {
      language,
      siteName: textIn(pages.name, language),
      logoUrl,
      support: pages.support,
      links: pages.links.map((link) => ({ title: textIn(link.title, language), url: link.url })),
      languages: known !== undefined ? [] : offered.map((code) => ({ code, name: wordsIn(code).words.languageName, href: `?lang=${encodeURIComponent(code)}` })),
      account: visitor?.principal.name,
      switchUrl: visitor === undefined ? undefined : switchUrl(links, here ?? 'account'),
      accountUrl: visitor === undefined ? undefined : links.account,
      styleUrl,
    };
  };
}

/** Where somebody goes who is not the person that the page takes her for. */
function switchUrl({ login, signOut }: PageLinks, here: string): string | undefined {
  if (login !== undefined) return login(here, true);
  return signOut !== undefined && 'href' in signOut ? signOut.href : undefined;
}
