/**
 * Puts a person's secrets into the message itself: tool arguments and keys of `params._meta`. What the
 * client wrote there, or in a key that lenient servers take for it, is dropped. Everything else keeps its
 * characters, numbers their digits; a message that carries nothing of the kind keeps its bytes. A header
 * that mirrors an injected argument (MCP 2026-07-28, basic/transports, `Mcp-Param-*`) says what the body says.
 */
import { err, ok, type Result } from '../errors.ts';
import { deleteMembers, memberText, setMember, type MemberPath } from '../protocol/json-edit.ts';
import { fold } from '../protocol/json-scan.ts';
import type { Call } from './call.ts';
import { mustBeApart } from './inject.ts';

interface Put {
  /** From the message's root. */
  readonly path: MemberPath;
  readonly value: string;
  readonly header: string | undefined;
}

/** A message, and what it carries. */
type Carrying = Pick<Call, 'held' | 'message' | 'tool' | 'upstream' | 'body'>;

/**
 * @param headers for upstream: name, value, name, value …
 * @returns body and headers to send; `invalid-request` when the client sent something else where an object must be
 * @throws Error when two credentials are put into one place
 */
export function injectIntoMessage(call: Carrying, headers: string[]): Result<{ readonly body: Buffer; readonly headers: string[] }, 'invalid-request'> {
  const puts = putsOf(call);
  if (puts.length === 0) return ok({ body: call.body, headers });
  mustBeApart('member', puts.flatMap(({ path }) => places(path, puts)));
  let text = call.body.toString();
  for (const { path, value } of puts) {
    const changed = setMember(withoutLookalikes(text, path), path, JSON.stringify(value));
    if (!changed.ok) return err('invalid-request');
    text = changed.value;
  }
  const mirrored = puts.flatMap(({ header, value }) => (header === undefined ? [] : [header, headerValue(value)]));
  return ok({ body: Buffer.from(text), headers: [...withoutHeaders(headers, mirrored), ...mirrored] });
}

function putsOf({ held, message, tool, upstream }: Carrying): readonly Put[] {
  if (message.kind !== 'request') return [];
  return held.flatMap(({ credential, secret }): readonly Put[] => [
    ...(tool === undefined ? [] : credential.arguments).map(({ path, value }): Put => ({ path: ['params', 'arguments', ...path], value: value.render(secret.fields), header: upstream.hidden?.headerOf(tool ?? '', path) })),
    ...credential.meta.map(({ name, value }): Put => ({ path: ['params', '_meta', name], value: value.render(secret.fields), header: undefined })),
  ]);
}

/** The place itself, for every other put that is the same place or lies within it. */
function places(path: MemberPath, puts: readonly Put[]): readonly string[] {
  const place = path.join('\0');
  return puts.filter((other) => other.path.join('\0') === place || other.path.join('\0').startsWith(`${place}\0`)).map(() => path.slice(1).join('.'));
}

/** Below `arguments` and `_meta` some servers find keys without regard to case. */
function withoutLookalikes(text: string, path: MemberPath, depth = 0): string {
  const key = path[depth];
  if (key === undefined) return text;
  const within = path.slice(0, depth);
  const deeper = withoutLookalikes(text, path, depth + 1);
  const [first, ...rest] = within;
  // The levels above are checked when the message is parsed.
  if (first === undefined || depth < 2) return deeper;
  const object = memberText(deeper, [first, ...rest]);
  const clean = object === undefined ? undefined : deleteMembers(object, (one) => one !== key && fold(one) === fold(key));
  const changed = clean === undefined || clean === object ? undefined : setMember(deeper, [first, ...rest], clean);
  return changed?.ok === true ? changed.value : deeper;
}

function withoutHeaders(headers: readonly string[], mirrored: readonly string[]): string[] {
  const names = new Set(mirrored.filter((_, at) => at % 2 === 0));
  return headers.filter((_, at) => !names.has((headers[at - (at % 2)] ?? '').toLowerCase()));
}

/** A value that cannot stand in a header is sent in base64 (MCP 2026-07-28, basic/transports, "Value Encoding"). */
function headerValue(value: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value === value.trim() && !/^=\?base64\?.*\?=$/i.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}
