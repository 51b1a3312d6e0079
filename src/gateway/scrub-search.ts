/**
 * Searches what a text says, however it is escaped and nested. Most texts hide nothing: an escape is only
 * undone where it stands beside bytes that it could make a spelling of.
 */
import { ampersand, backslash, decode, hexAt, isStarter, letterU, meant, percent, readEntity, readEscape } from './escapes.ts';
import { createScan, type Range } from './needle-scan.ts';

/** How often JSON within a JSON string is looked into. */
const nestedLevels = 8;

type Find = (bytes: Buffer) => readonly Range[];

/** `mayFind` is quick and false where there is nothing to replace; `find` searches what a string says, `findEscaped` what stands between its quotes. */
export function createSearch(spellings: readonly string[]): { readonly mayFind: (bytes: Buffer) => boolean; readonly find: Find; readonly findEscaped: Find } {
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

type InUse = ReturnType<typeof bytesInUse>;

/** Which bytes of ASCII spellings have, at 0x80 whether they have others, a bit for each pair of neighbours, what follows a backslash where one of them is hidden, and one of the signs wherever one of them is hidden. */
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
  const afterBackslash = new Uint8Array(0x100);
  for (const letter of letters) afterBackslash[letter] = 1;
  return { bytes, pairs, afterBackslash, signs: [Buffer.of(percent), Buffer.of(ampersand), ...letters.map((letter) => Buffer.of(backslash, letter))] };
}

function pairOf(before: number, after: number): number {
  return ((before & 0x7f) << 7) | (after & 0x7f);
}

/** Where the first escape may be that hides something; in a short text that is not worth a search. */
function firstSign(bytes: Buffer, { signs }: InUse): number {
  if (bytes.length < 1_024) return 0;
  let first = bytes.length;
  for (const sign of signs) {
    const at = bytes.subarray(0, first + 1).indexOf(sign);
    if (at !== -1) first = at;
  }
  return first;
}

/** Whether such an escape, or else any, may stand for a part of a spelling, at any level of nesting. */
function hides(bytes: Buffer, escape: number | undefined, inUse: InUse): boolean {
  for (let at = firstSign(bytes, inUse); at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (escape === undefined ? !isStarter(byte) : byte !== escape) continue;
    // The quotes and line ends of JSON within JSON are most of the escapes of a text, and seldom a part of a secret.
    if (byte === backslash && inUse.afterBackslash[bytes[at + 1] ?? 0] === 0) continue;
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
