/**
 * Arguments that credentials fill in are no business of the model: answers to `tools/list` leave them out
 * of a tool's schema, of `properties` and of `required`, in JSON and in events. Everything else of the
 * answer keeps its characters. A list also says which header mirrors such an argument (`x-mcp-header`,
 * MCP 2026-07-28); since the client never sees it, the proxy remembers it and sends it itself.
 */
import { LRUCache } from 'lru-cache';
import { deleteMember, mapItems, memberText, setMember, type MemberPath } from '../protocol/json-edit.ts';
import { mapData } from '../protocol/sse.ts';
import type { Target } from './requested.ts';
import type { Places } from './injected-places.ts';
import { messageIn } from './upstream-messages.ts';

interface RuleOfTools {
  readonly names: (target: Target) => boolean;
  readonly requires: readonly { readonly anyOf: readonly Pick<Places, 'arguments'>[] }[];
}

export interface HiddenArguments {
  /** One JSON answer to `tools/list`, without the arguments. */
  json(body: Buffer): Buffer;
  /** A run of whole events, any of which may be such an answer. */
  events(events: Buffer): Buffer;
  /** The header, in lower case, that mirrors an argument of a tool, as far as a list has said so. */
  headerOf(tool: string, path: MemberPath): string | undefined;
}

/** Of one upstream. */
const knownHeaders = 10_000;

/**
 * @param rules whose calls carry credentials
 * @param always credentials that every call carries
 * @returns undefined where no credential is put into an argument
 */
export function createHiddenArguments(rules: readonly RuleOfTools[], always: readonly Pick<Places, 'arguments'>[]): HiddenArguments | undefined {
  const isAny = [...always, ...rules.flatMap(credentialsOf)].some((credential) => credential.arguments.length > 0);
  if (!isAny) return undefined;
  const headers = new LRUCache<string, string>({ max: knownHeaders });
  const hide = (tool: string): string => {
    const name = nameOf(tool);
    if (name === undefined) return tool;
    const credentials = [...always, ...rules.filter((rule) => rule.names({ kind: 'tool', name })).flatMap(credentialsOf)];
    return credentials.flatMap((credential) => credential.arguments).reduce((text, { path }) => {
      const header = headerIn(text, path);
      if (header !== undefined) headers.set(keyOf(name, path), header);
      return withoutArgument(text, ['inputSchema'], path);
    }, tool);
  };
  const hideAll = (text: string): string => {
    const tools = memberText(text, ['result', 'tools']);
    const without = tools === undefined ? undefined : mapItems(tools, hide);
    if (without === undefined || without === tools) return text;
    const changed = setMember(text, ['result', 'tools'], without);
    return changed.ok ? changed.value : text;
  };
  const hideIn = (text: string): string => (messageIn(text) === undefined ? text : hideAll(text));
  return {
    json: (body) => Buffer.from(hideIn(body.toString())),
    events: (events) => Buffer.from(mapData(events.toString(), hideIn)),
    headerOf: (tool, path) => headers.get(keyOf(tool, path)),
  };
}

function credentialsOf({ requires }: RuleOfTools) {
  return requires.flatMap(({ anyOf }) => anyOf);
}

function keyOf(tool: string, path: MemberPath): string {
  return JSON.stringify([tool, ...path]);
}

function nameOf(tool: string): string | undefined {
  const name = parsed(memberText(tool, ['name']));
  return typeof name === 'string' ? name : undefined;
}

/** @param schema where the schema of the object stands that has the argument's first key */
function withoutArgument(tool: string, schema: MemberPath, [key, ...rest]: MemberPath): string {
  const property: MemberPath = [...schema, 'properties', key];
  const [next, ...further] = rest;
  if (next !== undefined) return withoutArgument(tool, property, [next, ...further]);
  return withoutRequired(deleteMember(tool, property), [...schema, 'required'], key);
}

function withoutRequired(tool: string, at: MemberPath, key: string): string {
  const required = parsed(memberText(tool, at));
  if (!Array.isArray(required) || !required.includes(key)) return tool;
  const changed = setMember(tool, at, JSON.stringify(required.filter((name) => name !== key)));
  return changed.ok ? changed.value : tool;
}

function headerIn(tool: string, [first, ...rest]: MemberPath): string | undefined {
  const property: MemberPath = ['inputSchema', 'properties', first, ...rest.flatMap((key) => ['properties', key])];
  const name = parsed(memberText(tool, [...property, 'x-mcp-header']));
  return typeof name === 'string' && /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name) ? `mcp-param-${name.toLowerCase()}` : undefined;
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
