/**
 * Changes members of a JSON text and leaves every other character as it stands: spaces, the order of keys,
 * and the digits of numbers beyond 2^53 (which parsing and writing again would lose). Works on text that
 * JSON.parse has accepted and reads it as JSON.parse does: of a key that stands twice the last one counts,
 * and after a change only that one is left. A value that is no object has no members: nothing is set in it.
 */
import { err, ok, type Result } from '../errors.ts';
import { eachItem, eachMember, skipSpace, type Member } from './json-scan.ts';

/** Keys from the outermost object inwards; at least one. */
export type MemberPath = readonly [string, ...string[]];

/**
 * Sets one member; objects on the way that are missing are made.
 * @param text one JSON value
 * @param value JSON text
 * @returns the changed text, or `no-object` when the text, or what stands on the way, is no object
 */
export function setMember(text: string, [key, ...rest]: MemberPath, value: string): Result<string, 'no-object'> {
  const start = skipSpace(text, 0);
  if (text[start] !== '{') return err('no-object');
  const members = membersOf(text, start);
  const before = members.findLast((member) => member.key === key);
  const inner = before === undefined ? ok(nested(rest, value)) : setWithin(text.slice(before.valueStart, before.valueEnd), rest, value);
  if (!inner.ok) return inner;
  if (before === undefined) return ok(append(text, start, members, `${JSON.stringify(key)}:${inner.value}`));
  const others = cuts(members, (member) => member.key === key && member !== before);
  return ok(replaceSpans(text, [...others, { from: before.valueStart, to: before.valueEnd, by: inner.value }]));
}

/**
 * Takes one member out, wherever its key stands; what is not there, or in no object, leaves the text as it is.
 * @param text one JSON value
 */
export function deleteMember(text: string, [key, ...rest]: MemberPath): string {
  const [next, ...further] = rest;
  if (next === undefined) return deleteMembers(text, (one) => one === key);
  const start = skipSpace(text, 0);
  if (text[start] !== '{') return text;
  const found = membersOf(text, start).filter((member) => member.key === key);
  return replaceSpans(text, found.map(({ valueStart, valueEnd }) => ({ from: valueStart, to: valueEnd, by: deleteMember(text.slice(valueStart, valueEnd), [next, ...further]) })));
}

/** Takes every member out of the outermost object whose key is meant; what is no object stays as it is. */
export function deleteMembers(text: string, isMeant: (key: string) => boolean): string {
  const start = skipSpace(text, 0);
  return text[start] === '{' ? replaceSpans(text, cuts(membersOf(text, start), ({ key }) => isMeant(key))) : text;
}

/** The text of one member's value, as it stands; `undefined` where there is none. */
export function memberText(text: string, [key, ...rest]: MemberPath): string | undefined {
  const start = skipSpace(text, 0);
  const member = text[start] === '{' ? membersOf(text, start).findLast((one) => one.key === key) : undefined;
  if (member === undefined) return undefined;
  const value = text.slice(member.valueStart, member.valueEnd);
  const [next, ...further] = rest;
  return next === undefined ? value : memberText(value, [next, ...further]);
}

/** Changes the items of a list, each by its own text; what is no list stays as it is. */
export function mapItems(text: string, change: (item: string) => string): string {
  const start = skipSpace(text, 0);
  if (text[start] !== '[') return text;
  const spans: Span[] = [];
  eachItem(text, start, (from, to) => { spans.push({ from, to, by: change(text.slice(from, to)) }); });
  return replaceSpans(text, spans);
}

function setWithin(text: string, [key, ...rest]: readonly string[], value: string): Result<string, 'no-object'> {
  return key === undefined ? ok(value) : setMember(text, [key, ...rest], value);
}

function nested(path: readonly string[], value: string): string {
  return path.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, value);
}

function membersOf(text: string, start: number): readonly Member[] {
  const members: Member[] = [];
  eachMember(text, start, (member) => {
    const space = text.slice(member.valueStart, member.valueEnd);
    members.push({ ...member, valueEnd: member.valueEnd - space.length + space.trimEnd().length });
    return true;
  });
  return members;
}

function append(text: string, start: number, members: readonly Member[], member: string): string {
  const last = members.at(-1);
  const at = last?.valueEnd ?? start + 1;
  return `${text.slice(0, at)}${last === undefined ? '' : ','}${member}${text.slice(at)}`;
}

/** Half open, and what comes in its place. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/** Where members are cut out, each with the comma that is not needed any more. */
function cuts(members: readonly Member[], isMeant: (member: Member) => boolean): readonly Span[] {
  const firstLeft = members.findIndex((member) => !isMeant(member));
  return members.flatMap((member, index) => {
    if (!isMeant(member)) return [];
    const isBehind = firstLeft !== -1 && firstLeft < index;
    const from = isBehind ? (members[index - 1]?.valueEnd ?? member.keyStart) : member.keyStart;
    const to = isBehind ? member.valueEnd : (members[index + 1]?.keyStart ?? member.valueEnd);
    return [{ from, to, by: '' }];
  });
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  let rest = 0;
  const parts: string[] = [];
  for (const { from, to, by } of spans.toSorted((a, b) => a.from - b.from)) {
    parts.push(text.slice(rest, from), by);
    rest = to;
  }
  return parts.join('') + text.slice(rest);
}
