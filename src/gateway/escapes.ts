/** The escapes of JSON strings, URLs and HTML, one at a time and as a whole, in bytes. */

/** Escapes are known by the byte that begins them. */
export const backslash = 0x5c;
export const percent = 0x25;
export const ampersand = 0x26;
export const letterU = 0x75;

const shortEscapes = { '"': '"', '\\': '\\', '/': '/', "'": "'", b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
export const meant = new Map(Object.entries(shortEscapes).map(([written, said]) => [written.charCodeAt(0), said.charCodeAt(0)]));
const entity = /^&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/i;
const entities: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const entityBegins = new Set(Buffer.from('#aglqAGLQ'));

/** What the escape at `at` means (a byte of a URL, a character elsewhere), times 16, plus how many bytes it takes; 0 where none is. */
export function readEscape(bytes: Buffer, at: number): number {
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

export function readEntity(text: string): number {
  const [all = '', decimal, hex, name = ''] = entity.exec(text) ?? [];
  const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? parseInt(hex, 16) : (entities[name.toLowerCase()] ?? 0);
  return Math.min(code, 0x10ffff) * 16 + all.length;
}

/** -1 where not all of them are hexadecimal digits. */
export function hexAt(bytes: Buffer, from: number, digits: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at += 1) {
    const byte = bytes[at] ?? 0;
    const digit = byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
    if (digit < 0 || digit > 15 || (byte > 0x39 && digit < 10)) return -1;
    value = value * 16 + digit;
  }
  return value;
}

export function isStarter(byte: number): boolean {
  return byte === backslash || byte === percent || byte === ampersand;
}

/** @param starts is filled with where in `bytes` each byte of the result comes from */
export function decode(escape: number, bytes: Buffer, starts?: Uint32Array): Buffer {
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
