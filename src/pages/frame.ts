/** What surrounds every page: the operator's name and links in the visitor's language, and the switch between languages. */
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import type { Frame } from './views.ts';
import { chooseLanguage, shippedLanguages } from './words.ts';

const languageNames: Readonly<Record<string, string>> = { en: 'English', de: 'Deutsch' };

/** @param base path of the pages as browsers see it; @param stylePath below it */
export function createFrame(pages: Config['pages'], base: string, stylePath: string) {
  const offered = pages.locales.filter((code) => shippedLanguages.includes(code));
  const logoUrl = pages.logo === undefined ? undefined : `data:${pages.logo.mediaType};base64,${readFileSync(pages.logo.path, 'base64')}`;
  return (request: FastifyRequest, account: string | undefined): Frame => {
    const { lang } = request.query as { readonly lang?: unknown };
    const language = chooseLanguage(request.headers['accept-language'], typeof lang === 'string' ? lang : undefined, offered);
    return {
      language,
      siteName: textIn(pages.name, language),
      logoUrl,
      support: pages.support,
      links: pages.links.map((link) => ({ title: textIn(link.title, language), url: link.url })),
      languages: offered.map((code) => ({ code, name: languageNames[code] ?? code, href: `?lang=${encodeURIComponent(code)}` })),
      account,
      styleUrl: `${base}${stylePath}`,
    };
  };
}
