/**
 * Names that others chose (a client's name for itself, a tool's name, an account) made fit to stand in
 * our sentences: one line, no invisible or direction-changing characters, and not so long that they
 * could pass for a text of ours. Escaping is not done here; the templates escape everything.
 */

const longestName = 60;

/**
 * @param name any text
 * @returns the name on one line, cut with "…" beyond 60 characters; undefined when nothing is left
 */
export function shortName(name: string | undefined): string | undefined {
  const clean = plainLine(name ?? '');
  const characters = Array.from(clean);
  if (characters.length <= longestName) return clean === '' ? undefined : clean;
  return `${characters.slice(0, longestName - 1).join('').trimEnd()}…`;
}

/**
 * @param text any text
 * @returns the text on one line without control, format and other invisible characters, of any length
 */
export function plainLine(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '').trim();
}
