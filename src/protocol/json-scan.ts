/**
 * A look at JSON text that JSON.parse has accepted, for what parsing hides: keys that stand twice at the
 * levels that Elicitgate reads, keys that only look like one of them (some servers match keys without
 * regard to case, or only up to a NUL), and the exact text of the id. A message that two parsers could read differently is
 * refused, never passed on (RFC 8259 §4 leaves duplicate names to each reader).
 */

export interface ScannedEnvelope {
  /** False: a duplicate or look-alike key at a level that is read. */
  readonly isUnambiguous: boolean;
  /** The id as it was written, so that it comes back digit for digit; absent without an id. */
  readonly idText?: string;
}

/** Keys that mean something here, and what looks like one of them. */
interface ReservedKeys {
  readonly exact: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
}

const rootKeys = reservedKeys(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
const paramsKeys = reservedKeys(['name', 'uri', 'arguments', '_meta', 'ref', 'task', 'taskId', 'requestState', 'inputResponses', 'protocolVersion', 'capabilities', 'clientInfo', 'notifications']);
/** Values that are read at any depth. */
const readThroughout = new Set(['arguments', 'capabilities', 'clientInfo']);
const noKeys = reservedKeys([]);
const code = { quote: 0x22, comma: 0x2c, colon: 0x3a, openBracket: 0x5b, backslash: 0x5c, closeBracket: 0x5d, openBrace: 0x7b, closeBrace: 0x7d } as const;
const refKeys = reservedKeys(['type', 'name', 'uri']);
const notificationsKeys = reservedKeys(['resourceSubscriptions']);
/** Means something to some parsers wherever it stands, and to nobody who is honest. */
const poisonous = '__proto__';

/** @param text one JSON object, already known to be valid JSON */
export function scanEnvelope(text: string): ScannedEnvelope {
  let idText: string | undefined;
  const isUnambiguous = scanObject(text, skipSpace(text, 0), rootKeys, (key, start, end) => {
    if (key === 'id') idText = text.slice(start, end).trimEnd();
    return key !== 'params' || text[start] !== '{' || scanParams(text, start);
  });
  return idText === undefined ? { isUnambiguous } : { isUnambiguous, idText };
}

function scanParams(text: string, start: number): boolean {
  return scanObject(text, start, paramsKeys, (key, at) => {
    if (readThroughout.has(key)) return hasUniqueKeysThroughout(text, at);
    if (text[at] !== '{') return true;
    if (key === 'ref') return scanObject(text, at, refKeys, () => true);
    if (key === 'notifications') return scanObject(text, at, notificationsKeys, () => true);
    return key !== '_meta' || scanObject(text, at, noKeys, () => true);
  });
}

/** Walks one object whose keys must be plain; `visit` gets each key with the range of its value. False: stop, ambiguous. */
function scanObject(
  text: string,
  start: number,
  reserved: ReservedKeys,
  visit: (key: string, start: number, end: number) => boolean,
): boolean {
  const seen = new Set<string>();
  return eachMember(text, start, ({ key, valueStart, valueEnd }) => {
    if (key === poisonous || seen.has(key) || (!reserved.exact.has(key) && reserved.folded.has(fold(key)))) return false;
    seen.add(key);
    return visit(key, valueStart, valueEnd);
  });
}

/** One member of an object: what its key says, and where it stands in the text; a value's end may have space before it. */
export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Walks the object that opens at `start`, in valid JSON. @param visit false: stop. @returns whether it was walked to its end */
export function eachMember(text: string, start: number, visit: (member: Member) => boolean): boolean {
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) === code.quote) {
    const keyEnd = endOfString(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (!visit({ key: decodeKey(text, at, keyEnd), keyStart: at, valueStart, valueEnd })) return false;
    at = skipSpace(text, valueEnd);
    if (text.charCodeAt(at) === code.comma) at = skipSpace(text, at + 1);
  }
  return true;
}

/** Walks the list that opens at `start`, in valid JSON. */
export function eachItem(text: string, start: number, visit: (start: number, end: number) => void): void {
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at);
    visit(at, end);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
}

/** Whether no object anywhere in this value has a key twice. */
function hasUniqueKeysThroughout(text: string, start: number): boolean {
  // One entry for each open bracket: the keys seen so far in an object, nothing in an array.
  const open: (Set<string> | undefined)[] = [];
  let at = start;
  do {
    const c = text.charCodeAt(at);
    if (c === code.quote) {
      const end = endOfString(text, at);
      const keys = open[open.length - 1];
      const next = skipSpace(text, end);
      if (keys !== undefined && text.charCodeAt(next) === code.colon) {
        const key = decodeKey(text, at, end);
        if (key === poisonous || keys.has(key)) return false;
        keys.add(key);
      }
      at = next;
      continue;
    }
    if (c === code.openBrace) open.push(new Set());
    else if (c === code.openBracket) open.push(undefined);
    else if (c === code.closeBrace || c === code.closeBracket) open.pop();
    at += 1;
  } while (open.length > 0 && at < text.length);
  return true;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === code.quote) return endOfString(text, start);
  let at = start;
  if (first !== code.openBrace && first !== code.openBracket) {
    while (at < text.length && !endsScalar(text.charCodeAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  do {
    const c = text.charCodeAt(at);
    if (c === code.quote) {
      at = endOfString(text, at);
      continue;
    }
    if (c === code.openBrace || c === code.openBracket) depth += 1;
    else if (c === code.closeBrace || c === code.closeBracket) depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

function endsScalar(c: number): boolean {
  return c === code.comma || c === code.closeBrace || c === code.closeBracket;
}

/** Index after the closing quote of the string that opens at `start`; the text's end where it does not close. */
export function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === code.backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Index of the first character from `start` on that is no space. */
export function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function decodeKey(text: string, start: number, end: number): string {
  const raw = text.slice(start, end);
  return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
}

function reservedKeys(keys: readonly string[]): ReservedKeys {
  return { exact: new Set(keys), folded: new Set(keys.map(fold)) };
}

/**
 * Keys as lenient parsers take them: the long s and the Kelvin sign are letters of ASCII to those that
 * fold case, a NUL ends a string of C, and what reads names from a form or a table trims them.
 */
export function fold(key: string): string {
  const nul = key.indexOf('\0');
  return (nul === -1 ? key : key.slice(0, nul)).trim().toLowerCase().replaceAll('\u017f', 's');
}

/**
 * Whether this text, JSON or not, nests deeper than this or has an object with more members than this:
 * reading such a text costs seconds, and many servers cannot. Lists may be of any length.
 */
export function isUnwieldy(text: string, deepest: number, mostMembers: number): boolean {
  // Each level takes two characters, each member more.
  if (text.length <= Math.min(deepest, mostMembers) * 2) return false;
  // Commas so far in what is open, and in what is around it.
  let commas = 0;
  const around: number[] = [];
  let at = 0;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === code.comma) commas += 1;
    else if (c === code.openBrace || c === code.openBracket) {
      around.push(commas);
      commas = c === code.openBrace ? 0 : -Infinity;
    } else if (c === code.closeBrace || c === code.closeBracket) commas = around.pop() ?? 0;
    if (around.length > deepest || commas >= mostMembers) return true;
    at = c === code.quote ? endOfString(text, at) : at + 1;
  }
  return false;
}
