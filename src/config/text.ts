/**
 * Texts for people, by language. A plain string in the file is the text of every language (key '').
 * The order of choice is the lookup of RFC 4647 §3.4, cut to what a configuration needs.
 */

export type Text = Readonly<Record<string, string>>;

/**
 * The text in the language that comes closest.
 *
 * @param text at least one entry; the key '' serves every language
 * @param language a BCP 47 tag, e.g. `de-AT`
 * @returns exact tag, else base language, else '', else English, else the first entry
 */
export function textIn(text: Text, language: string): string {
  const base = language.split('-', 1)[0] ?? '';
  for (const tag of [language, base, '', 'en']) {
    if (Object.hasOwn(text, tag)) return text[tag] ?? '';
  }
  return Object.values(text)[0] ?? '';
}
