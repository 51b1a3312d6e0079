/**
 * What a modern request (2026-07-28, basic/index, "_meta" and basic/transports, "Request Metadata") says
 * about itself: its version and what its client can do, in `_meta`; method, name and version once more in
 * headers, which must say what the body says. Whatever is missing or differs is refused by name.
 */
import { isUtf8 } from 'node:buffer';
import { displayName } from './session-token.ts';
import { isObject, type JsonObject, type RpcMessage, type RpcRequest } from './json-rpc.ts';

/** A client as it describes itself; chooses how it is asked, never who it is. */
export interface ClientFacts {
  /** It opens URLs for its person. */
  readonly takesUrls: boolean;
  /** For display. */
  readonly name: string | undefined;
}

export type RequestFault = 'missing-meta' | 'header-mismatch';

const prefix = 'io.modelcontextprotocol/';

/** Where the value of `Mcp-Name` stands in `params`. */
const nameSources: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function clientInMeta(message: RpcMessage): ClientFacts {
  const meta = metaOf(message);
  const info = meta[`${prefix}clientInfo`];
  const capabilities = meta[`${prefix}clientCapabilities`];
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  return { takesUrls: isObject(elicitation) && isObject(elicitation['url']), name: displayName(info, 'title') ?? displayName(info, 'name') };
}

/** The version that the body names; undefined where it names none. */
export function versionInMeta(message: RpcMessage): string | undefined {
  const version = metaOf(message)[`${prefix}protocolVersion`];
  return typeof version === 'string' ? version : undefined;
}

/** @param header the value of a header by its lower-case name */
export function checkModernRequest(request: RpcRequest, header: (name: string) => string | undefined): RequestFault | undefined {
  const version = versionInMeta(request);
  if (version === undefined || !isObject(metaOf(request)[`${prefix}clientCapabilities`])) return 'missing-meta';
  const isMirrored = header('mcp-protocol-version') === version && header('mcp-method') === request.method && isNameMirrored(request, header('mcp-name'));
  return isMirrored ? undefined : 'header-mismatch';
}

function isNameMirrored({ method, params }: RpcRequest, header: string | undefined): boolean {
  const source = Object.hasOwn(nameSources, method) ? nameSources[method] : undefined;
  const name = source === undefined ? undefined : params[source];
  if (name === undefined) return header === undefined || source === undefined;
  return header !== undefined && decodeHeader(header) === name;
}

/** `=?base64?…?=` carries what cannot stand in a header ("Value Encoding"). @returns undefined for a broken one, and for one that decoders read in different ways */
export function decodeHeader(value: string): string | undefined {
  if (!/^=\?base64\?.*\?=$/.test(value)) return value;
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  const isCanonical = encoded !== '' && bytes.toString('base64') === encoded && isUtf8(bytes);
  return isCanonical ? bytes.toString() : undefined;
}

/** The headers that repeat what a modern request says; undefined for a request of the legacy era. */
export function headersOfModernRequest(request: RpcRequest): Readonly<Record<string, string>> | undefined {
  const version = versionInMeta(request);
  if (version === undefined) return undefined;
  const source = Object.hasOwn(nameSources, request.method) ? nameSources[request.method] : undefined;
  const name = source === undefined ? undefined : request.params[source];
  return { 'mcp-protocol-version': encodeHeader(version), 'mcp-method': encodeHeader(request.method), ...(typeof name === 'string' ? { 'mcp-name': encodeHeader(name) } : {}) };
}

/** The other way round; what looks encoded is encoded, too. */
function encodeHeader(value: string): string {
  const isPlain = /^(?! )[\x20-\x7e]*(?<! )$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

function metaOf(message: RpcMessage): JsonObject {
  const meta = message.kind === 'response' ? undefined : message.params['_meta'];
  return isObject(meta) ? meta : {};
}
