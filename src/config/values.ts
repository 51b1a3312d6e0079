/**
 * The kinds of value that the file is made of, as zod schemas. Each reads one YAML value, refuses it in
 * the words for what would be right, and carries what an editor can check (`pattern`) or must hide
 * (`writeOnly`: the value is a secret and no message repeats it).
 */
import * as z from 'zod';
import { ok, err, type Result } from '../errors.ts';
import { parseAddress, parseNetwork } from './address.ts';
import { parseGlobs } from './globs.ts';
import { parsePattern } from './pattern.ts';
import { parseTemplate } from './template.ts';
import type { Text } from './text.ts';
import { durationPattern, parseDuration, parseRate, parseSize, ratePattern, sizePattern } from './units.ts';

/** Timers of the runtime overflow beyond this many milliseconds (a signed 32-bit integer). */
export const longestTimerMs = 2_147_483_647;

/** A text that one of our own parsers reads; its error says what would be right, also for what is no text. */
export function read<T>(parse: (text: string) => Result<T, string>) {
  const empty = parse('');
  return z.string(empty.ok ? {} : { error: empty.error }).transform((text, context): T => {
    const result = parse(text);
    if (result.ok) return result.value;
    context.issues.push({ code: 'custom', message: result.error, input: text });
    return z.NEVER;
  });
}

/** @param range bounds in milliseconds, both allowed, and the words for them */
export function duration(range?: { readonly minMs: number; readonly maxMs: number; readonly words: string }) {
  return read((text) => {
    const result = parseDuration(text);
    if (!result.ok || range === undefined) return result;
    return result.value >= range.minMs && result.value <= range.maxMs ? result : err(`a duration ${range.words}`);
  }).meta({ pattern: durationPattern });
}

/** A duration that something waits for; never longer than a timer can be. */
export function waiting() {
  return duration({ minMs: 0, maxMs: longestTimerMs, words: 'of at most 24d' });
}

/** A duration that must not be nothing. */
export function lifetime() {
  return duration({ minMs: 1, maxMs: Number.MAX_SAFE_INTEGER, words: 'longer than 0s, e.g. 30m or 90d' });
}

export const size = () =>
  read((text) => {
    const result = parseSize(text);
    return result.ok && result.value === 0 ? err('a size of at least 1B') : result;
  }).meta({ pattern: sizePattern });

export const rate = () => read(parseRate).meta({ pattern: ratePattern });
export const address = () => read(parseAddress);
export const network = () => read(parseNetwork);
export const pattern = () => read(parsePattern);
export const template = () => read(parseTemplate);

/** A text that is not empty. */
export const words = () => read((text) => (text.trim() === '' ? err('a text that is not empty') : ok(text)));

/** A secret of the operator's own. */
export const secret = () =>
  read((text) => (text === '' ? err('a text that is not empty') : ok(text))).meta({ writeOnly: true });

/** A path of a file or folder, already made absolute by the loader. */
export const path = words;

const languageTag = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$';

/** A text for people: one for every language, or a map by language. */
export const text = () =>
  z.union([
    words().transform((plain): Text => ({ '': plain })),
    z
      .record(z.string().regex(new RegExp(languageTag), 'a language tag such as en, de or zh-CN'), words())
      .refine((byLanguage) => Object.keys(byLanguage).length > 0, 'a text, or a map by language such as { en: Key, de: Schlüssel }')
      .transform((byLanguage): Text => byLanguage),
  ]);

export const globs = () =>
  z.array(z.string()).transform((source, context) => {
    const result = parseGlobs(source);
    if (result.ok) return result.value;
    context.issues.push({ code: 'custom', message: result.error, input: source });
    return z.NEVER;
  });

const token = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

/** The name of an HTTP header (RFC 9110 §5.6.2). */
export const headerName = () => z.string().regex(new RegExp(token), 'a header name: letters, digits and - without spaces');

/** What can stand in a header (RFC 9110 §5.5): visible Latin-1, spaces and tabs, no line break. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

const aHeaderValue = 'a header value in one line of Latin letters';

/** Headers of the operator's own, with their values. */
export const headers = () =>
  z.record(headerName(), read((value) => (isHeaderValue(value) ? ok(value) : err(aHeaderValue))).meta({ writeOnly: true }));

/** Headers whose values are made from the person's secret. */
export const headerTemplates = () =>
  z.record(
    headerName(),
    read((value) => (isHeaderValue(value) ? parseTemplate(value) : err(aHeaderValue))).meta({ writeOnly: true }),
  );

const variableName = () => z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name: letters, digits and _');

export const variables = () =>
  z.record(
    variableName(),
    read((value) => (value.includes('\0') ? err('a text without NUL characters') : ok(value))).meta({ writeOnly: true }),
  );

export const variableTemplates = () => z.record(variableName(), template().meta({ writeOnly: true }));

/** Names; those beginning with x- are left to the file's author, like every such key. */
export const namePattern = '^(?!x-)[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** A name by which other places of the file, links and log lines refer to something. */
export const key = () =>
  z.string().regex(new RegExp(namePattern), 'a name of at most 64 letters, digits, - and _, beginning with a letter or digit');

/** An http or https URL without user, password and fragment. */
export function webUrl() {
  return read((value) => parseUrl(value, ['http:', 'https:'], 'an http or https URL without user, password and fragment'));
}

/** A link for people. */
export function link() {
  return read((value) => {
    const url = parseUrl(value, ['http:', 'https:', 'mailto:'], 'an https URL, or mailto: and an address');
    return url.ok ? ok(value) : url;
  });
}

/** An identifier of an OAuth issuer (RFC 8414 §2), kept exactly as written because it is compared so. */
export function issuer() {
  return read((value) => {
    const url = parseUrl(value, ['http:', 'https:'], 'the issuer’s https URL, exactly as it names itself');
    if (!url.ok) return url;
    return url.value.search === '' ? ok(value) : err('an issuer’s URL without a query');
  });
}

export function origin() {
  return read((value) => {
    const right = 'an origin such as https://app.example.com, without a path';
    const url = parseUrl(value, ['http:', 'https:'], right);
    if (!url.ok) return url;
    return url.value.pathname === '/' && url.value.search === '' ? ok(url.value.origin) : err(right);
  });
}

/** A path below an origin: begins with a slash; the trailing slash is dropped, except of the root. */
export function urlPath() {
  return read((value) => {
    const isPlain = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(value) && !value.includes('//');
    const hasDots = value.split('/').some((segment) => segment === '.' || segment === '..');
    return isPlain && !hasDots ? ok(value.replace(/(.)\/$/, '$1')) : err('a path such as /github/mcp');
  });
}

export function parseUrl(value: string, protocols: readonly string[], right: string): Result<URL, string> {
  const url = URL.parse(value);
  if (url === null || !protocols.includes(url.protocol)) return err(right);
  const isBare = url.username === '' && url.password === '' && url.hash === '' && !/[\s\\]/.test(value);
  const hasHost = url.protocol === 'mailto:' ? url.pathname.includes('@') : url.host !== '';
  return isBare && hasHost ? ok(url) : err(right);
}

/** What a token's `aud` must contain: one name, or a list of which one is enough. */
export function audience() {
  return z.union([words().transform((one): readonly string[] => [one]), z.array(words()).min(1).readonly()]);
}
