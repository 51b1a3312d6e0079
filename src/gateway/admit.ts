/** The first steps: was this server meant, who calls, may she call again already, and is the message one that can be understood. */
import { MIMEType } from 'node:util';
import { eraOfHeader, eraOfMessage } from '../protocol/era.ts';
import { parseMessage } from '../protocol/json-rpc.ts';
import { refuseBare } from './answer.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import { forwardedHeaders } from './request-headers.ts';

/** A name longer than this is no tool's. */
const longestToolName = 1_024;

export function isAddressed(gateway: Gateway): Step {
  return (call) => {
    const reason = gateway.addressed.check(call.raw.headers);
    if (reason !== undefined) return refuseBare(reason);
    allowOrigin(call);
    return undefined;
  };
}

/** Pages of the origins that are served here may read the answers (CORS; WHATWG Fetch §3.3). */
function allowOrigin(call: Call): void {
  const { origin, 'access-control-request-headers': asked } = call.raw.headers;
  if (origin === undefined) return;
  call.reply.setHeader('access-control-allow-origin', origin);
  call.reply.setHeader('access-control-expose-headers', 'mcp-session-id, mcp-protocol-version, www-authenticate, retry-after');
  call.reply.setHeader('vary', 'Origin');
  if (asked !== undefined) call.reply.setHeader('access-control-allow-headers', asked);
}

export function identify(gateway: Gateway): Step {
  return (call) => {
    const caller = gateway.identify(call.request);
    if (!caller.ok) return refuseBare(caller.error);
    call.principal = caller.value;
    return undefined;
  };
}

/** Counted after parsing, so that the answer carries the client's id; notifications and responses are free. */
export function limitCalls(gateway: Gateway): Step {
  return async (call) => {
    if (gateway.countCall === undefined || call.message.kind !== 'request') return undefined;
    const waitSeconds = await gateway.countCall(call.request, call.principal);
    if (waitSeconds === undefined) return undefined;
    const refusal = call.refuse('too-many-calls');
    return { ...refusal, headers: { 'retry-after': String(waitSeconds) } };
  };
}

export function readHeaders(call: Call): StepResult {
  const headers = forwardedHeaders(call.raw.rawHeaders, call.upstream);
  if (!headers.ok) return call.refuse(headers.error);
  call.forwarded = headers.value;
  return undefined;
}

export function checkMedia(call: Call): StepResult {
  const { headers } = call.raw;
  if (!isPlainJson(headers['content-type'], headers['content-encoding'])) return call.refuse('unsupported-media');
  return acceptsAnswer(headers.accept) ? undefined : call.refuse('not-acceptable');
}

export function parse(call: Call): StepResult {
  const message = parseMessage(call.body);
  if (!message.ok) return call.refuse(message.error);
  call.message = message.value;
  const name = message.value.kind === 'request' && message.value.method === 'tools/call' ? message.value.params['name'] : '';
  // A call whose tool cannot be read cannot be judged by any rule.
  return typeof name === 'string' && name.length <= longestToolName ? undefined : call.refuse('invalid-request');
}

export function classify(call: Call): StepResult {
  return eraOfMessage(call.message) === 'legacy' ? undefined : call.refuse('unsupported-era');
}

/** GET and DELETE have no message; the modern era does not use them. */
export function classifyBare(call: Call): StepResult {
  const version = call.raw.headers['mcp-protocol-version'];
  return eraOfHeader(typeof version === 'string' ? version : undefined) === 'legacy' ? undefined : refuseBare('no-stream', { allow: 'POST' });
}

function isPlainJson(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity') return false;
  if (contentType === 'application/json') return true;
  try {
    const type = new MIMEType(contentType ?? '');
    const charset = type.params.get('charset')?.toLowerCase() ?? 'utf-8';
    return type.essence === 'application/json' && (charset === 'utf-8' || charset === 'utf8');
  } catch {
    return false;
  }
}

function acceptsAnswer(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return /(?:^|[,\s])(?:\*\/\*|application\/(?:\*|json)|text\/(?:\*|event-stream))(?:$|[\s;,])/i.test(accept);
}
