/**
 * Scrubbing: no value that was ever sent upstream for a person comes back to her client. Every secret of
 * at least 8 characters, and every such line of one, is replaced by `[redacted]` in each message: plain, in
 * base64 (at any alignment), in hex, and however JSON, URLs and HTML escape it, also JSON within JSON.
 * Inside JSON strings everything that says a secret counts; outside strings what may be JSON stays, so that
 * a secret that is a number breaks nothing. An upstream that encodes a secret in some other way is beyond
 * this. People choose secrets and answers, so the work is linear in both, whatever they choose.
 */
import { mapLines } from '../protocol/sse.ts';

export interface Scrubber {
  /** One or more whole JSON messages; the same bytes when there is nothing to replace. */
  json(bytes: Buffer): Buffer;
  /** A run of whole server-sent events; the same bytes when there is nothing to replace. */
  events(bytes: Buffer): Buffer;
}

export const redacted = '[redacted]';

const shortestSecret = 8;
/** How often JSON within a JSON string is looked into. */
const nestedLevels = 8;
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

/** Half open, in bytes. */
interface Range {
  from: number;
  to: number;
}

/** What overlaps goes together, so that no part of either stays. */
function addRange(ranges: Range[], from: number, to: number): void {
  const last = ranges[ranges.length - 1];
  if (last === undefined || from >= last.to || to <= last.from) return void ranges.push({ from, to });
  last.from = Math.min(last.from, from);
  last.to = Math.max(last.to, to);
}

function replaceRanges(bytes: Buffer, ranges: readonly Range[]): Buffer {
  if (ranges.length === 0) return bytes;
  const apart: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) addRange(apart, range.from, range.to);
  const parts = apart.flatMap(({ from }, index) => [bytes.subarray(apart[index - 1]?.to ?? 0, from), Buffer.from(redacted)]);
  return Buffer.concat([...parts, bytes.subarray(apart.at(-1)?.to)]);
}

type Find = (bytes: Buffer) => readonly Range[];

/** `mayFind` is quick and false where there is nothing to replace; `find` searches what a string says, `findEscaped` what stands between its quotes. */
function createSearch(spellings: readonly string[]): { readonly mayFind: (bytes: Buffer) => boolean; readonly find: Find; readonly findEscaped: Find } {
  const scan = createScan(spellings);
  const inUse = bytesInUse(spellings);
  const mayHide = (bytes: Buffer, escape?: number): boolean => hides(bytes, escape, inUse);

  function findNested(said: Buffer, levels: number): readonly Range[] {
    const isNested = levels > 0 && mayHide(said, backslash);
    const nested = isNested ? through(backslash, said, (deeper) => findNested(deeper, levels - 1)) : [];
    // JSON leaves the escapes of URLs and HTML alone, so the outermost and the innermost level are enough.
    const markup = levels === nestedLevels || !isNested ? [percent, ampersand].filter((escape) => mayHide(said, escape)) : [];
    return [...scan(said), ...nested, ...markup.flatMap((escape) => through(escape, said, findInUrl))];
  }
  /** An escaped URL may stand in HTML or in another URL. */
  const findInUrl: Find = (plain) => [...scan(plain), ...(mayHide(plain, percent) ? through(percent, plain, scan) : [])];
  const find: Find = (said) => findNested(said, nestedLevels);
  const mayFind = (bytes: Buffer): boolean => mayHide(bytes) || scan(bytes).length > 0;
  return { mayFind, find, findEscaped: (literal) => (mayFind(literal) ? through(backslash, literal, find) : []) };
}

/** Many spellings are searched for at once, from windows at their ends; the longer those, the more of a text is skipped. */
const longestWindow = 32;

interface Needle {
  readonly bytes: Buffer;
  /** For each length of a beginning: how much of its end is a beginning too (Knuth, Morris, Pratt); made when first needed. */
  borders: Uint32Array | undefined;
  /** How far it was compared, and in which run. */
  run: number;
  from: number;
  matched: number;
}

/**
 * Looks for the last bytes of every needle at once, as far apart as the last two bytes read allow (Wu, Manber),
 * and compares the whole needle where they stand.
 */
function createScan(spellings: readonly string[]): (bytes: Buffer) => Range[] {
  const needles = spellings.map((spelling): Needle => ({ bytes: Buffer.from(spelling), borders: undefined, run: 0, from: 0, matched: 0 }));
  const windowBytes = needles.reduce((shortest, { bytes }) => Math.min(shortest, bytes.length), longestWindow);
  const mask = 2 ** Math.min(16, Math.max(10, Math.ceil(Math.log2(needles.length * windowBytes * 4 + 1)))) - 1;
  const skips = new Uint8Array(mask + 1).fill(windowBytes - 1);
  const byHash = new Map<number, Needle[]>();
  for (const needle of needles) {
    const last = needle.bytes.length - 1;
    const hash = hashBefore(needle.bytes, last);
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle]);
    for (let back = 0; back < windowBytes - 1; back += 1) {
      const pair = pairAt(needle.bytes, last - back) & mask;
      skips[pair] = Math.min(skips[pair] ?? 0, back);
    }
  }
  let run = 0;
  return (bytes) => {
    const ranges: Range[] = [];
    run += 1;
    for (let last = windowBytes - 1; last < bytes.length; ) {
      const skip = skips[pairAt(bytes, last) & mask] ?? 0;
      if (skip === 0) for (const needle of byHash.get(hashBefore(bytes, last)) ?? []) compare(needle, bytes, last + 1, run, ranges);
      last += skip === 0 ? 1 : skip;
    }
    return ranges;
  };
}

/** Compares up to `end`, which grows within a run; what has been compared in the run is not read again. */
function compare(needle: Needle, bytes: Buffer, end: number, run: number, ranges: Range[]): void {
  const sought = needle.bytes;
  const start = end - sought.length;
  if (start < 0 || bytes[start] !== sought[0]) return;
  const isNew = needle.run !== run || start >= needle.from + needle.matched;
  let from = isNew ? start : needle.from;
  let matched = isNew ? 0 : needle.matched;
  const borders = (needle.borders ??= bordersOf(sought));
  while (from <= start) {
    while (matched < sought.length && bytes[from + matched] === sought[matched]) matched += 1;
    if (matched === sought.length) addRange(ranges, from, from + matched);
    const border = borders[matched] ?? 0;
    from += matched === 0 ? 1 : matched - border;
    matched = border;
  }
  needle.run = run;
  needle.from = from;
  needle.matched = matched;
}

function bordersOf(needle: Buffer): Uint32Array {
  const borders = new Uint32Array(needle.length + 1);
  let border = 0;
  for (let at = 1; at < needle.length; at += 1) {
    while (border > 0 && needle[at] !== needle[border]) border = borders[border] ?? 0;
    if (needle[at] === needle[border]) border += 1;
    borders[at + 1] = border;
  }
  return borders;
}

function pairAt(bytes: Buffer, last: number): number {
  return ((bytes[last - 1] ?? 0) << 5) ^ (bytes[last] ?? 0);
}

function hashBefore(bytes: Buffer, last: number): number {
  return Math.imul(bytes.readInt32LE(last - 7), 0x9e3779b1) ^ Math.imul(bytes.readInt32LE(last - 3), 0x85ebca6b);
}

/** Escapes are known by the byte that begins them. */
const backslash = 0x5c;
const percent = 0x25;
const ampersand = 0x26;
const letterU = 0x75;

const shortEscapes = { '"': '"', '\\': '\\', '/': '/', "'": "'", b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const meant = new Map(Object.entries(shortEscapes).map(([written, said]) => [written.charCodeAt(0), said.charCodeAt(0)]));
const entity = /^&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/i;
const entities: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const entityBegins = new Set(Buffer.from('#aglqAGLQ'));

/** What the escape at `at` means (a byte of a URL, a character elsewhere), times 16, plus how many bytes it takes; 0 where none is. */
function readEscape(bytes: Buffer, at: number): number {
  const next = bytes[at + 1] ?? 0;
  if (bytes[at] === percent) return Math.max(0, hexAt(bytes, at + 1, 2) * 16 + 3);
  if (bytes[at] === ampersand) return entityBegins.has(next) ? readEntity(bytes.toString('latin1', at, at + 11)) : 0;
  if (next !== letterU) return Math.max(0, (meant.get(next) ?? -1) * 16 + 2);
  const unit = hexAt(bytes, at + 2, 4);
  if (unit < 0xd800 || unit > 0xdfff) return Math.max(0, unit * 16 + 6);
  const low = bytes[at + 6] === backslash && bytes[at + 7] === letterU ? hexAt(bytes, at + 8, 4) : -1;
  if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) return 0xfffd * 16 + 6;
  return (0x10000 + ((unit - 0xd800) << 10) + low - 0xdc00) * 16 + 12;
}

function readEntity(text: string): number {
  const [all = '', decimal, hex, name = ''] = entity.exec(text) ?? [];
  const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? parseInt(hex, 16) : (entities[name.toLowerCase()] ?? 0);
  return Math.min(code, 0x10ffff) * 16 + all.length;
}

/** -1 where not all of them are hexadecimal digits. */
function hexAt(bytes: Buffer, from: number, digits: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at += 1) {
    const byte = bytes[at] ?? 0;
    const digit = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
    if (digit < 0 || digit > 15 || (byte > 0x39 && digit < 10)) return -1;
    value = value * 16 + digit;
  }
  return value;
}

type InUse = ReturnType<typeof bytesInUse>;

/** Which bytes of ASCII spellings have, at 0x80 whether they have others, a bit for each pair of neighbours, and one of the signs wherever one of them is hidden. */
function bytesInUse(spellings: readonly string[]) {
  const bytes = new Uint8Array(0x81);
  const pairs = new Uint8Array(0x800);
  for (const spelling of spellings) {
    let before = 0;
    for (const byte of Buffer.from(spelling)) {
      const pair = pairOf(before, byte);
      bytes[Math.min(byte, 0x80)] = 1;
      pairs[pair >> 3] = (pairs[pair >> 3] ?? 0) | (1 << (pair & 7));
      before = byte;
    }
  }
  const letters = [letterU, ...[...meant].filter(([, said]) => bytes[said] === 1).map(([written]) => written)];
  return { bytes, pairs, signs: [Buffer.of(percent), Buffer.of(ampersand), ...letters.map((letter) => Buffer.of(backslash, letter))] };
}

function pairOf(before: number, after: number): number {
  return ((before & 0x7f) << 7) | (after & 0x7f);
}

function isStarter(byte: number): boolean {
  return byte === backslash || byte === percent || byte === ampersand;
}

/** Whether such an escape, or else any, may stand for a part of a spelling, at any level of nesting. */
function hides(bytes: Buffer, escape: number | undefined, inUse: InUse): boolean {
  const firsts = bytes.length < 1_024 ? [0] : inUse.signs.map((sign) => bytes.indexOf(sign)).filter((first) => first !== -1);
  for (let at = Math.min(...firsts); at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (escape === undefined ? !isStarter(byte) : byte !== escape) continue;
    const unit = readEscape(bytes, at);
    if (unit !== 0 && isHiding(bytes, at, unit, inUse)) return true;
  }
  return false;
}

/** A part of a spelling has a neighbour in it; where that is another escape, it may be any. */
function isHiding(bytes: Buffer, at: number, unit: number, inUse: InUse): boolean {
  const code = unit >> 4;
  const after = at + (unit & 15);
  if (code >= 0x80) return inUse.bytes[0x80] === 1;
  if (inUse.bytes[code] === 1 && (mayMeet(bytes[at - 1] ?? 0, code, inUse) || mayMeet(code, bytes[after] ?? 0, inUse))) return true;
  // It may begin an escape itself.
  if (code === percent) return hexAt(bytes, after, 2) >= 0;
  return code === ampersand && readEntity(`&${bytes.toString('latin1', after, after + 10)}`) > 0;
}

function mayMeet(left: number, right: number, { pairs }: InUse): boolean {
  const pair = pairOf(left, right);
  return isStarter(left) || isStarter(right) || (((pairs[pair >> 3] ?? 0) >> (pair & 7)) & 1) === 1;
}

/** Finds in what the bytes say, and tells where in the bytes; an escape goes whole. */
function through(escape: number, bytes: Buffer, find: Find): Range[] {
  const said = decode(escape, bytes);
  const ranges = find(said);
  if (ranges.length === 0) return [];
  const starts = new Uint32Array(said.length + 1).fill(bytes.length);
  decode(escape, bytes, starts);
  return ranges.map(({ from, to }) => {
    let end = to;
    while (end < said.length && starts[end] === starts[to - 1]) end += 1;
    return { from: starts[from] ?? 0, to: starts[end] ?? bytes.length };
  });
}

/** @param starts is filled with where in `bytes` each byte of the result comes from */
function decode(escape: number, bytes: Buffer, starts?: Uint32Array): Buffer {
  const said = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const unit = bytes[at] === escape ? readEscape(bytes, at) : 0;
    const code = unit === 0 ? (bytes[at] ?? 0) : unit >> 4;
    const taken = unit === 0 || code < 0x80 || escape === percent ? 1 : said.write(String.fromCodePoint(code), length);
    if (taken === 1) said[length] = code;
    if (starts !== undefined) for (let index = 0; index < taken; index += 1) starts[length + index] = at;
    length += taken;
    at += unit === 0 ? 1 : unit & 15;
  }
  return said.subarray(0, length);
}
