/**
 * Names lent to requests whose own would be mistaken upstream: a request id or progress token that another
 * request of the session is using. A lent name carries the client's own text, so whichever process sees it
 * come back can give the client its own again, digit for digit.
 */
const mark = 'elicitgate-';
const lentName = /"elicitgate-[\da-f]{16}-([\w-]*)"/g;
/** A JSON string or number on one line, and nothing beside it. */
const scalar = /^(?:"(?:[^"\\\n\r]|\\.)*"|-?\d[\d.eE+-]*)$/;

/**
 * @param text of the client's id or token, as it was written
 * @param unique 16 hexadecimal digits that no other lent name has
 * @returns JSON text
 */
export function lendName(text: string, unique: string): string {
  return `"${mark}${unique}-${Buffer.from(text).toString('base64url')}"`;
}

/** Puts the client's own names back wherever a lent one stands, in JSON or in events; other bytes stay. */
export function giveBack(bytes: Buffer): Buffer {
  if (!bytes.includes(mark)) return bytes;
  const text = bytes.toString('latin1');
  const restored = text.replace(lentName, (lent, encoded: string) => {
    const own = Buffer.from(encoded, 'base64url');
    return scalar.test(own.toString()) ? own.toString('latin1') : lent;
  });
  return Buffer.from(restored, 'latin1');
}
