/**
 * The languages that ship, and which of them a visitor gets. All words that people see on pages are
 * in `words/`, one file for each language; a new language is one file and one line here.
 * Choosing follows RFC 9110 §12.5.4 (q-values) and the lookup of RFC 4647 §3.4, with one step more:
 * when nothing fits exactly, any offered variety of the same language is better than another one.
 */
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Words } from './words/en.ts';
import { th } from './words/th.ts';
import { zhCN } from './words/zh-CN.ts';

const shipped: ReadonlyMap<string, Words> = new Map([
  ['en', en],
  ['de', de],
  ['zh-CN', zhCN],
  ['th', th],
]);

/** The codes of the languages that ship, the first being the one for visitors who name none. */
export const shippedLanguages: readonly string[] = [...shipped.keys()];

/**
 * @param language a code from `shippedLanguages`
 * @returns its words and its code; English when that language does not ship
 */
export function wordsIn(language: string): { readonly language: string; readonly words: Words } {
  const words = shipped.get(language);
  return words === undefined ? { language: 'en', words: en } : { language, words };
}

/**
 * @param acceptLanguage the request's Accept-Language header
 * @param wanted what the person chose by the switch; stronger than the header when it is offered
 * @param offered the codes to choose from, the operator's favourite first
 * @returns one of `offered`; its first when nothing fits, and `en` when it is empty
 */
export function chooseLanguage(
  acceptLanguage: string | undefined,
  wanted: string | undefined,
  offered: readonly string[],
): string {
  for (const range of [...(wanted === undefined ? [] : [wanted]), ...rangesOf(acceptLanguage ?? '')]) {
    const found = range === '*' ? offered[0] : lookUp(range.toLowerCase(), offered);
    if (found !== undefined) return found;
  }
  return offered[0] ?? 'en';
}

/** The language ranges of a header, most wanted first; those with q=0 or no sensible q are left out. */
function rangesOf(acceptLanguage: string): readonly string[] {
  return acceptLanguage
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter));
      return { range, q: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ range, q }) => range !== '' && q > 0 && q <= 1)
    .sort((a, b) => b.q - a.q)
    .map(({ range }) => range);
}

function lookUp(range: string, offered: readonly string[]): string | undefined {
  const subtags = range.split('-');
  for (let length = subtags.length; length > 0; length--) {
    const shorter = subtags.slice(0, length).join('-');
    const exact = offered.find((code) => code.toLowerCase() === shorter);
    if (exact !== undefined) return exact;
  }
  return offered.find((code) => code.toLowerCase().split('-')[0] === subtags[0]);
}
