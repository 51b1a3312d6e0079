/**
 * Scrubbing: no value that was ever sent upstream for a person comes back to her client. Every secret of
 * at least 8 characters is replaced by `[redacted]` in each message, plain, JSON-escaped, URL-encoded and
 * in base64 (at any alignment). Inside JSON strings everything that spells a secret counts, however it is
 * escaped; outside strings digits stay, so that a secret that is a number breaks no JSON. An upstream
 * that encodes a secret in some other way is beyond this.
 */
import { endOfString } from '../protocol/json-scan.ts';
import { mapLines } from '../protocol/sse.ts';

export interface Scrubber {
  /** One or more whole JSON messages; the same bytes when there is nothing to replace. */
  json(bytes: Buffer): Buffer;
  /** A run of whole server-sent events; the same bytes when there is nothing to replace. */
  events(bytes: Buffer): Buffer;
}

export const redacted = '[redacted]';

const shortestSecret = 8;
const numberLike = /^[-+.0-9eE]+$/;

/** @param values secret fields and rendered values, plain */
export function createScrubber(values: Iterable<string>): Scrubber | undefined {
  const spellings = [...new Set([...values].filter((value) => value.length >= shortestSecret).flatMap(spellingsOf))];
  if (spellings.length === 0) return undefined;
  // A spelling that contains another is found by it, so it need not be searched for.
  const needles = spellings.filter((spelling) => !spellings.some((other) => other !== spelling && spelling.includes(other)));
  const needleBytes = needles.map((needle) => Buffer.from(needle));
  const escapes = escapesThatHide(needles);
  const anywhere = alternation(spellings);
  const outsideStrings = alternation(spellings.filter((spelling) => !numberLike.test(spelling)));

  const replaceAll = (text: string): string => text.replace(anywhere, redacted);
  const replaceOutside = (text: string): string => text.replace(outsideStrings, redacted);
  const mayContain = (bytes: Buffer): boolean =>
    needleBytes.some((needle) => bytes.includes(needle)) || escapes.some((escape) => bytes.includes(escape));

  function scrubJson(text: string): string {
    let result = '';
    let at = 0;
    while (at < text.length) {
      const quote = text.indexOf('"', at);
      const end = quote === -1 ? text.length : endOfString(text, quote);
      result += replaceOutside(text.slice(at, quote === -1 ? end : quote));
      if (quote !== -1) result += scrubString(text.slice(quote, end), replaceAll);
      at = end;
    }
    return result;
  }

  const change = (bytes: Buffer, scrub: (text: string) => string): Buffer => {
    if (!mayContain(bytes)) return bytes;
    const text = bytes.toString('utf8');
    const scrubbed = scrub(text);
    return scrubbed === text ? bytes : Buffer.from(scrubbed);
  };
  return {
    json: (bytes) => change(bytes, scrubJson),
    events: (bytes) => change(bytes, (text) => mapLines(text, { data: scrubJson, other: replaceAll })),
  };
}

/** One JSON string with its quotes: what it says is what is searched, not how it is escaped. */
function scrubString(literal: string, replaceAll: (text: string) => string): string {
  if (!literal.includes('\\')) return replaceAll(literal);
  const said = decode(literal);
  if (said === undefined) return replaceAll(literal);
  const scrubbed = replaceAll(said);
  return scrubbed === said ? literal : JSON.stringify(scrubbed);
}

function decode(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}

/** Where one of these stands, a JSON string may say a secret without spelling it. */
function escapesThatHide(needles: readonly string[]): readonly string[] {
  if (needles.some((needle) => /["\\\p{Cc}]/u.test(needle))) return ['\\'];
  return needles.some((needle) => needle.includes('/')) ? ['\\u', '\\/'] : ['\\u'];
}

function spellingsOf(value: string): string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  const base64 = [0, 1, 2].map((offset) => alignedBase64(value, offset));
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ].filter((spelling) => spelling.length >= shortestSecret);
}

/** The characters of base64 that depend on nothing but the value when it begins `offset` bytes into a group. */
function alignedBase64(value: string, offset: number): string {
  const bytes = Buffer.from(value);
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64').replace(/=+$/, '');
  const from = Math.ceil((offset * 8) / 6);
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(from, whole);
}

function alternation(spellings: readonly string[]): RegExp {
  const literals = [...spellings].sort((a, b) => b.length - a.length).map((spelling) => RegExp.escape(spelling));
  return literals.length === 0 ? /(?!)/g : new RegExp(literals.join('|'), 'g');
}
