/**
 * Whether a rule for resources is about a URI. A server may take one URI for another: it decodes percent
 * signs, resolves dot segments, ignores the case of scheme and host, or a query (RFC 3986 §6). So a URI is
 * compared as it came and in every form that it may be brought to; any form that the rule names is
 * protected. What cannot be brought to a form counts as named.
 */
import { parseGlobs, type Globs, mayOverlap } from '../config/globs.ts';

const longestUri = 2_048;
const mostDecodings = 8;

/** Nothing in it that any server reads as something else. */
const plainUri = /^(?!file:)[a-z][a-z\d+.-]*:\/\/[a-z\d-]+(?:\.[a-z\d-]+)*(?:\/[\w~-][\w.~-]*)*$/;
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\ufffd]/u;

/** @param globs as in the file; they are brought to their usual form like the URIs */
export function matchUris(globs: Globs): (uri: string) => boolean {
  const usual = usualGlobs(globs);
  return (uri) => {
    if (plainUri.test(uri)) return usual.matches(uri) || usual.matches(`${uri}/`);
    const forms = formsOf(uri);
    if (forms === undefined) return true;
    return forms.some(uri.includes('{') ? (form) => usual.matches(form) || overlaps(usual, form) : usual.matches);
  };
}

/** A template (RFC 6570), as completions name it, is about every URI that it can make. */
function overlaps(globs: Globs, template: string): boolean {
  const wide = parseGlobs([template.replace(/\{[^{}]*\}?/g, '*').replace(/^!+/, '')]);
  return !wide.ok || mayOverlap(globs, wide.value);
}

function usualGlobs(globs: Globs): Globs {
  const usual = parseGlobs(globs.source.map((glob) => (glob.startsWith('!') ? `!${usualGlob(glob.slice(1), (escape) => escape)}` : usualGlob(glob, () => '?'))));
  return usual.ok ? usual.value : globs;
}

/** @param wildcard what becomes of an escape that stands for `*`, `?` or `!`: more is named, or less is taken out */
function usualGlob(glob: string, wildcard: (escape: string) => string): string {
  const kept = glob.split(/(%(?:25)*(?:2a|3f|21))/i).map((part, at) => (at % 2 === 1 ? wildcard(part) : (decodeFully(part) ?? part)));
  const decoded = kept.join('');
  const spelled = decoded.normalize('NFKC');
  return withLowerAuthority(wildcardsIn(spelled) === wildcardsIn(decoded) ? spelled : decoded);
}

function wildcardsIn(glob: string): number {
  return glob.match(/[*?!]/g)?.length ?? 0;
}

/** @returns the forms that servers may bring it to, or nothing when that cannot be said */
function formsOf(uri: string): readonly string[] | undefined {
  const text = uri.length > longestUri ? undefined : decodeFully(uri);
  if (text === undefined || hidden.test(text)) return undefined;
  const forms = new Set<string>();
  for (const spelled of [text, text.normalize('NFKC')]) {
    addForms(forms, spelled);
    if (URL.canParse(spelled)) addForms(forms, decodeFully(new URL(spelled).href) ?? spelled);
  }
  return [...forms];
}

function addForms(forms: Set<string>, uri: string): void {
  for (const part of [uri, uri.replace(/#.*$/s, ''), uri.replace(/[?#].*$/s, '')]) {
    const lower = withLowerAuthority(part.trim());
    const resolved = withoutDots(lower.replaceAll('\\', '/'));
    // Some servers take what follows the scheme for one path.
    const pathOnly = lower.replaceAll('\\', '/').replace(/^([a-z][a-z\d+.-]*:)\/\/([^?#]*)/, (_whole, scheme: string, path: string) => `${scheme}//${withoutDots(path)}`);
    for (const form of [lower, resolved, resolved.replace(/(?<=[^:/])\/{2,}/g, '/'), pathOnly]) {
      forms.add(form);
      forms.add(form.replace(/(?<=[^:/])\/+$/, ''));
      forms.add(`${form}/`);
    }
  }
}

/** Escapes that are no UTF-8 become the replacement character, by which they are known. @returns nothing for what is escaped over and over */
function decodeFully(escaped: string): string | undefined {
  let text = escaped;
  for (let round = 0; round < mostDecodings; round += 1) {
    const decoded = text.replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
    if (decoded === text) return text;
    text = decoded;
  }
  return undefined;
}

/** Scheme and host in lower case, without user, default port, or the dot at a host's end. */
function withLowerAuthority(uri: string): string {
  const [, scheme, slashes, authority, rest = ''] = /^([a-z][a-z\d+.-]*):([\\/]{2})?([^\\/?#]*)(.*)$/is.exec(uri) ?? [];
  if (scheme === undefined || authority === undefined) return uri;
  const lower = scheme.toLowerCase();
  if (slashes === undefined) return `${lower}:${authority}${rest}`;
  const port = lower === 'http' || lower === 'ws' ? '80' : '443';
  const host = authority.toLowerCase().replace(/^.*@/, '').replace(new RegExp(`:(?:${port})?$`), '').replace(/\.$/, '');
  return `${lower}://${host}${rest}`;
}

/** RFC 3986 §5.2.4, also for schemes that have no host. */
function withoutDots(uri: string): string {
  const [, start = '', path = '', rest = ''] = /^((?:[a-z][a-z\d+.-]*:)?(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/is.exec(uri) ?? [];
  const kept: string[] = [];
  const segments = path.split('/');
  segments.forEach((segment, at) => {
    const isLast = at === segments.length - 1;
    if (segment === '..' && kept.length > (path.startsWith('/') ? 1 : 0)) kept.pop();
    else if (segment !== '.' && segment !== '..') kept.push(segment);
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  });
  return start + kept.join('/') + rest;
}
