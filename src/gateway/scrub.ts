/**
 * Scrubbing: no value that was ever sent upstream for a person comes back to her client. Every secret of
 * at least 8 characters is replaced by `[redacted]` in each message, plain, JSON-escaped, URL-encoded and
 * in base64 (at any alignment). Inside JSON strings everything that spells a secret counts, however it is
 * escaped, also in JSON within the string; outside strings what may be JSON stays, so that a secret that is
 * a number breaks nothing. An upstream that encodes a secret in some other way is beyond this.
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
/** How often JSON within a JSON string is looked into; each time its backslashes double. */
const nestedLevels = 4;
/** Nothing but what stands outside the strings of valid JSON. */
const mayBeJson = /^[\s\d[\]{}:,.+\-eEtrufalsn]+$/;

/** @param values secret fields and rendered values, plain */
export function createScrubber(values: Iterable<string>): Scrubber | undefined {
  const encoded = unique([...values].filter((value) => value.length >= shortestSecret).flatMap(encodingsOf));
  if (encoded.length === 0) return undefined;
  const spellings = unique(encoded.flatMap(escapingsOf)).sort((a, b) => b.length - a.length);
  const outsideStrings = spellings.filter((spelling) => !mayBeJson.test(spelling));
  // A spelling that contains another is found by it, so it need not be searched for.
  const needles = spellings.filter((spelling) => !spellings.some((other) => other !== spelling && spelling.includes(other)));
  const needleBytes = needles.map((needle) => Buffer.from(needle));
  const escapes = escapesThatHide(encoded);
  const mayContain = (bytes: Buffer): boolean =>
    needleBytes.some((needle) => bytes.includes(needle)) || escapes.some((escape) => bytes.includes(escape));

  function scrubJson(text: string, levels = nestedLevels): string {
    let result = '';
    let at = 0;
    while (at < text.length) {
      const quote = text.indexOf('"', at);
      const end = quote === -1 ? text.length : endOfString(text, quote);
      result += replaceAll(text.slice(at, quote === -1 ? end : quote), outsideStrings);
      if (quote !== -1) result += scrubString(text.slice(quote, end), levels);
      at = end;
    }
    return result;
  }
  /** One JSON string with its quotes: what it says is what is searched, not how it is escaped. */
  function scrubString(literal: string, levels: number): string {
    const said = literal.includes('\\') ? decode(literal) : undefined;
    if (said === undefined) return `"${replaceAll(literal.slice(1), spellings)}`;
    // JSON within it first, so that none of its escapes is cut in two.
    const scrubbed = replaceAll(levels > 0 && said.includes('\\') ? scrubJson(said, levels - 1) : said, spellings);
    return scrubbed === said ? literal : JSON.stringify(scrubbed);
  }

  const change = (bytes: Buffer, scrub: (text: string) => string): Buffer => {
    if (!mayContain(bytes)) return bytes;
    const text = bytes.toString('utf8');
    const scrubbed = scrub(text);
    return scrubbed === text ? bytes : Buffer.from(scrubbed);
  };
  return {
    json: (bytes) => change(bytes, scrubJson),
    events: (bytes) => change(bytes, (text) => mapLines(text, { data: scrubJson, other: (line) => replaceAll(line, spellings) })),
  };
}

/** @param spellings longest first, so that none is cut by a part of itself */
function replaceAll(text: string, spellings: readonly string[]): string {
  return text.length < shortestSecret ? text : spellings.reduce((rest, spelling) => rest.replaceAll(spelling, redacted), text);
}

function decode(literal: string): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}

/** Where one of these stands, a JSON string may say a secret without spelling it. */
function escapesThatHide(encoded: readonly string[]): readonly string[] {
  if (encoded.some((one) => /["\\\p{Cc}]/u.test(one))) return ['\\'];
  return encoded.some((one) => one.includes('/')) ? ['\\u', '\\/'] : ['\\u'];
}

/** The value and what common encoders make of it. */
function encodingsOf(value: string): string[] {
  const base64 = [0, 1, 2].map((offset) => alignedBase64(value, offset));
  return [value, ...urlEncodings(value.toWellFormed()), ...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** Encoders differ in what they leave alone, in the case of the digits and in the space. */
function urlEncodings(value: string): string[] {
  const component = encodeURIComponent(value);
  const strict = component.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const all = [component, encodeURI(value), strict, strict.replaceAll('%2F', '/'), form, component.replaceAll('%20', '+')];
  return [...all, ...all.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** In a text that holds JSON with quotes that do not pair up, a secret is still found as JSON writers escape it. */
function escapingsOf(encoded: string): string[] {
  const escaped = JSON.stringify(encoded).slice(1, -1);
  return [encoded, escaped, escaped.replaceAll('/', '\\/')];
}

/** The characters of base64 that depend on nothing but the value when it begins `offset` bytes into a group. */
function alignedBase64(value: string, offset: number): string {
  const bytes = Buffer.from(value);
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64').replace(/=+$/, '');
  const from = Math.ceil((offset * 8) / 6);
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(from, whole);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
