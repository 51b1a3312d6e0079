/**
 * Scrubbing: no value that was ever sent upstream for a person comes back to her client. Every secret of
 * at least 8 characters, and every such line of one, is replaced by `[redacted]` in each message: plain, in
 * base64 (at any alignment), in hex, and however JSON, URLs and HTML escape it, also JSON within JSON.
 * Inside JSON strings everything that says a secret counts; outside strings what may be JSON stays, so that
 * a secret that is a number breaks nothing. An upstream that encodes a secret in some other way is beyond
 * this. People choose secrets and answers, so the work is linear in both, whatever they choose.
 */
import { mapLines } from '../protocol/sse.ts';
import { backslash } from './escapes.ts';
import { addRange, type Range } from './needle-scan.ts';
import { createSearch } from './scrub-search.ts';

export interface Scrubber {
  /** One or more whole JSON messages; the same bytes when there is nothing to replace. */
  json(bytes: Buffer): Buffer;
  /** A run of whole server-sent events; the same bytes when there is nothing to replace. */
  events(bytes: Buffer): Buffer;
}

export const redacted = '[redacted]';

const shortestSecret = 8;
/** Nothing but what stands outside the strings of valid JSON. */
const mayBeJson = /^[\s\d[\]{}:,.+\-eEtrufalsn]+$/;
const quote = 0x22;

/** @param values secret fields and rendered values, plain */
export function createScrubber(values: Iterable<string>): Scrubber | undefined {
  const secrets = new Set([...values].flatMap(withLines).filter((secret) => secret.length >= shortestSecret));
  if (secrets.size === 0) return undefined;
  const spellings = [...new Set([...secrets].flatMap(spellingsOf))];
  const notJson = spellings.filter((spelling) => !mayBeJson.test(spelling));
  const inside = createSearch(spellings);
  const outside = notJson.length === spellings.length ? inside : createSearch(notJson);

  function scrubJson(bytes: Buffer): Buffer {
    const ranges: Range[] = [];
    eachPart(bytes, (from, to, isString) => {
      if (to - from < shortestSecret) return;
      const part = bytes.subarray(from, to);
      for (const range of isString ? inside.findEscaped(part) : outside.find(part)) ranges.push({ from: from + range.from, to: from + range.to });
    });
    return replaceRanges(bytes, ranges);
  }
  function scrubEvents(bytes: Buffer): Buffer {
    const data = (value: string): string => scrubJson(Buffer.from(value)).toString();
    const other = (line: string): string => replaceRanges(Buffer.from(line), inside.find(Buffer.from(line))).toString();
    const scrubbed = mapLines(bytes.toString(), { data, other });
    return scrubbed === bytes.toString() ? bytes : Buffer.from(scrubbed);
  }
  return {
    json: (bytes) => (inside.mayFind(bytes) ? scrubJson(bytes) : bytes),
    events: (bytes) => (inside.mayFind(bytes) ? scrubEvents(bytes) : bytes),
  };
}

/** A value of several lines comes with each of them, and with both kinds of line ends. */
function withLines(value: string): string[] {
  const lines = value.split(/\r\n|\r|\n/);
  return lines.length === 1 ? lines : [value, lines.join('\n'), lines.join('\r\n'), ...lines];
}

/** What common encoders make of a secret, escapes aside; forms write a space as a plus. */
function spellingsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) => alignedBase64(secret, offset));
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = Buffer.from(secret).toString('hex');
  return [secret, secret.replaceAll(' ', '+'), ...base64, ...base64url, hex, hex.toUpperCase()];
}

/** The characters of base64 that depend on nothing but the value when it begins `offset` bytes into a group. */
function alignedBase64(value: string, offset: number): string {
  const bytes = Buffer.from(value);
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64').replace(/=+$/, '');
  const from = Math.ceil((offset * 8) / 6);
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(from, whole);
}

/** Cuts JSON into what strings hold, without their quotes, and what stands between strings. */
function eachPart(bytes: Buffer, visit: (from: number, to: number, isString: boolean) => void): void {
  let from = 0;
  let isString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    if (isString && bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) {
      visit(from, at, isString);
      from = at + 1;
      isString = !isString;
    }
  }
  visit(from, bytes.length, isString);
}

function replaceRanges(bytes: Buffer, ranges: readonly Range[]): Buffer {
  if (ranges.length === 0) return bytes;
  const apart: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) addRange(apart, range.from, range.to);
  const parts = apart.flatMap(({ from }, index) => [bytes.subarray(apart[index - 1]?.to ?? 0, from), Buffer.from(redacted)]);
  return Buffer.concat([...parts, bytes.subarray(apart.at(-1)?.to)]);
}
