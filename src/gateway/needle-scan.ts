/**
 * Where any of many spellings stands in bytes: one pass for all of them that reads only a part of a text
 * that has none, and is linear in the text whatever the spellings are.
 */

/** Half open, in bytes. */
export interface Range {
  from: number;
  to: number;
}

/** What overlaps goes together, so that no part of either stays. */
export function addRange(ranges: Range[], from: number, to: number): void {
  const last = ranges[ranges.length - 1];
  if (last === undefined || from >= last.to || to <= last.from) return void ranges.push({ from, to });
  last.from = Math.min(last.from, from);
  last.to = Math.max(last.to, to);
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
export function createScan(spellings: readonly string[]): (bytes: Buffer) => Range[] {
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
