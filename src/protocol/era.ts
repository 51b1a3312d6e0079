/**
 * Which era of MCP a request belongs to, decided once, from its body, before anything else looks at the
 * message: modern requests carry their protocol version in `_meta` (revision 2026-07-28), legacy ones
 * open with `initialize`. GET and DELETE have no body and are judged by `MCP-Protocol-Version`.
 */
import { isObject, type RpcMessage } from './json-rpc.ts';

export type Era = 'legacy' | 'modern';

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const firstModernVersion = '2026-07-28';

/** Newest first. */
export const knownVersions: readonly string[] = [firstModernVersion, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The modern versions that are understood here. */
export const modernVersions: readonly string[] = [firstModernVersion];

export function eraOfMessage(message: RpcMessage): Era {
  if (message.kind === 'response' || message.method === 'initialize') return 'legacy';
  const meta = message.params['_meta'];
  return message.method === 'server/discover' || (isObject(meta) && versionKey in meta) ? 'modern' : 'legacy';
}

/** @param version value of `MCP-Protocol-Version` */
export function eraOfHeader(version: string | undefined): Era {
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= firstModernVersion ? 'modern' : 'legacy';
}
