/** A secret that is planted by a test and looked for afterwards, in every spelling in which it could have got out. */
import { randomBytes } from 'node:crypto';

/** With characters that JSON, HTML, URLs and forms spell otherwise. */
export function makeCanary(prefix: string): string {
  return `${prefix}${randomBytes(12).toString('hex')}"\\/+=&%<'>`;
}

/** What is shorter may stand anywhere by chance. */
const shortestFind = 8;

/** Names of the spellings of `secret` that stand in `haystack`. */
export function spellingsFound(secret: string, haystack: string | Buffer): readonly string[] {
  const bytes = typeof haystack === 'string' ? Buffer.from(haystack) : haystack;
  return Object.entries(spellings(secret)).flatMap(([name, spelling]) => (spelling.length >= shortestFind && bytes.includes(spelling) ? [name] : []));
}

function spellings(secret: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(secret);
  const quoted = JSON.stringify(secret).slice(1, -1);
  return {
    plain: secret,
    // The part that every encoding of text leaves as it is.
    'its letters': secret.slice(0, secret.search(/[^\w-]/)),
    json: quoted,
    'json in json': JSON.stringify(quoted).slice(1, -1),
    html: secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    url: encodeURIComponent(secret),
    form: new URLSearchParams({ secret }).toString().slice('secret='.length),
    hex: bytes.toString('hex'),
    'upper-case hex': bytes.toString('hex').toUpperCase(),
    ...base64(bytes),
  };
}

/** As it reads wherever it begins within three bytes of a longer text: the characters that its neighbours do not touch. */
function base64(bytes: Buffer): Readonly<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const [before, cut] of [[0, 0], [1, 2], [2, 3]] as const) {
    const middle = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64').slice(before === 0 ? 0 : cut + 1, -4);
    all[`base64 after ${before}`] = middle;
    all[`base64url after ${before}`] = middle.replaceAll('+', '-').replaceAll('/', '_');
  }
  return all;
}
