/**
 * The step that answers for an upstream which lets nobody in without a credential: while a person has none,
 * `initialize`, `server/discover`, pings and lists are answered from the file, so that her client can find
 * the tools whose call will ask her. Once she has one, the upstream itself answers (`rebind.ts`). Everything
 * else goes upstream as ever.
 */
import type { Catalogue } from '../config/catalogue.ts';
import { eraOfMessage } from '../protocol/era.ts';
import { memberText, setMember } from '../protocol/json-edit.ts';
import type { RpcRequest } from '../protocol/json-rpc.ts';
import type { Answer } from './answer.ts';
import type { Call, Step } from './call.ts';
import type { Gateway } from './gateway.ts';
import { sessionHeader } from './handshake.ts';

export function answerFromCatalogue(gateway: Gateway): Step {
  return (call) => {
    const { catalogue } = call.upstream.config;
    if (catalogue === undefined || call.held.length > 0) return undefined;
    const { message } = call;
    // Nobody upstream waits for what a client of a session that is not open there says.
    if (message.kind !== 'request') return call.session?.upstreamSession === undefined ? { status: 202 } : undefined;
    if (message.method === 'initialize') return open(gateway, call, message, catalogue);
    // An upstream that answers no discover is a legacy one; a client of both eras then opens with `initialize`.
    if (message.method === 'server/discover' && catalogue.discover === undefined) return call.refuse('unsupported-era');
    const result = resultOf(message.method, catalogue);
    return result === undefined ? undefined : { status: 200, body: finished(call, message, result) };
  };
}

function open(gateway: Gateway, call: Call, { idText, params }: RpcRequest, { initialize, protocolVersion }: Catalogue): Answer {
  const version = versionFor(params['protocolVersion'], protocolVersion);
  const result = setMember(initialize, ['protocolVersion'], JSON.stringify(version));
  return { status: 200, body: answerWith(idText, result.ok ? result.value : initialize), headers: sessionHeader(gateway, call, undefined, { result: { protocolVersion: version } }) };
}

/** An older version that the client asks for is older than what the upstream speaks, which therefore speaks it too; dates compare as text. */
function versionFor(asked: unknown, newest: string): string {
  return typeof asked === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(asked) && asked < newest ? asked : newest;
}

function resultOf(method: string, { discover, tools, resources, resourceTemplates, prompts }: Catalogue): string | undefined {
  switch (method) {
    case 'server/discover':
      return discover;
    case 'ping':
      return '{}';
    case 'tools/list':
      return `{"tools":${tools}}`;
    case 'resources/list':
      return `{"resources":${resources}}`;
    case 'resources/templates/list':
      return `{"resourceTemplates":${resourceTemplates}}`;
    case 'prompts/list':
      return `{"prompts":${prompts}}`;
    default:
      return undefined;
  }
}

/** A modern answer says that it is whole, and that nobody else is to be given it (MCP 2026-07-28, basic). */
function finished({ upstream }: Call, message: RpcRequest, result: string): Buffer {
  const isModern = eraOfMessage(message) !== 'legacy';
  const whole = isModern ? Object.entries(modernMembers).reduce((text, [key, value]) => withMember(text, key, value), result) : result;
  const body = Buffer.from(answerWith(message.idText, whole));
  return message.method === 'tools/list' ? (upstream.hidden?.json(body) ?? body) : body;
}

const modernMembers = { resultType: '"complete"', ttlMs: '0', cacheScope: '"private"' };

function withMember(text: string, key: string, value: string): string {
  const changed = memberText(text, [key]) === undefined ? setMember(text, [key], value) : undefined;
  return changed?.ok === true ? changed.value : text;
}

/** @param result JSON text */
function answerWith(idText: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${result}}`;
}
