/** The first steps: was this server meant, who calls, and only then: what, may she call again already, and is the message one that can be understood. */
import { parseMessage, type RpcMessage } from '../protocol/json-rpc.ts';
import { refuseBare } from './answer.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import { readBody } from './read-body.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';
import { forwardedHeaders } from './request-headers.ts';
import { challengeHeader } from './resource-metadata.ts';
import { isAboutTask } from './tasks.ts';
import { isListeningPlainly, listening, protectable, targetsOf } from './requested.ts';

/** A name longer than this is no tool's and no prompt's; what is longer than a URI can be is no resource's. */
const longest = { tool: 1_024, prompt: 1_024, resource: 8_192 };

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
    const caller = gateway.identify(call.request, call.endpoint.audiences);
    return caller instanceof Promise ? caller.then((settled) => settle(call, settled)) : settle(call, caller);
  };
}

function settle(call: Call, caller: Awaited<ReturnType<Gateway['identify']>>): StepResult {
  if (caller.ok) {
    call.principal = caller.value;
    return undefined;
  }
  const { reason, challenge } = caller.error;
  return refuseBare(reason, challenge === undefined ? {} : { 'www-authenticate': challengeHeader(call.endpoint.metadataUrl, challenge) });
}

/** Counted after parsing, so that the answer carries the client's id; notifications and responses are free. */
export function limitCalls(gateway: Gateway): Step {
  const { countCall } = gateway;
  if (countCall === undefined) return () => undefined;
  return async (call) => {
    if (call.message.kind !== 'request') return undefined;
    const waitSeconds = await countCall(call.request, call.principal);
    if (waitSeconds === undefined) return undefined;
    const refusal = call.refuse('too-many-calls');
    return { ...refusal, headers: { 'retry-after': String(waitSeconds) } };
  };
}

export function readHeaders(call: Call): StepResult {
  const headers = forwardedHeaders(call.raw.rawHeaders, call.upstream.passingHeaders);
  if (!headers.ok) return call.refuse(headers.error);
  call.forwarded = headers.value;
  return undefined;
}

export function checkMedia(call: Call): StepResult {
  const { headers } = call.raw;
  if (!isPlainJson(headers['content-type'], headers['content-encoding'])) return call.refuse('unsupported-media');
  return acceptsAnswer(headers.accept) ? undefined : call.refuse('not-acceptable');
}

/** @param maxBytes of one message */
export function takeBody(maxBytes: number): Step {
  return (call) => new Promise<StepResult>((resolve) => {
    readBody(call.raw, maxBytes, (body) => {
      if (body.ok) call.body = body.value;
      // What is still on its way is thrown away: a client whose connection is cut while it sends never reads why.
      else call.raw.resume();
      resolve(body.ok ? undefined : call.refuse(body.error === 'too-large' ? 'too-large' : 'not-json'));
    });
  });
}

export function parse(call: Call): StepResult {
  const message = parseMessage(call.body);
  if (!message.ok) return call.refuse(message.error);
  call.message = message.value;
  return canBeJudged(message.value, call.upstream) ? undefined : call.refuse('invalid-request');
}

/** A call whose tool cannot be read, or that wants no answer (some servers run it all the same), could pass every rule; so with resources and prompts. */
function canBeJudged(message: RpcMessage, { config: { rules } }: ProtectedUpstream): boolean {
  if (message.kind === 'response') return true;
  const { method, params } = message;
  if (isAboutTask(method)) return message.kind === 'request' && typeof params['taskId'] === 'string' && !hasHidden(params['taskId']);
  if (!protectable.has(method)) return !isLookalike(method) && isListeningPlainly(message);
  const targets = targetsOf(message);
  // Where no rule is about resources or prompts, a request that names none is the upstream's to refuse.
  if (targets.length === 0) return method !== 'tools/call' && !rules.some((rule) => rule.resources !== undefined || rule.prompts !== undefined);
  return targets.every(({ kind, name }) => name.length <= longest[kind] && !hasHidden(name));
}

/** What lenient servers may take for a method that can be protected. */
function isLookalike(method: string): boolean {
  const meant = method.normalize('NFKC').toLowerCase();
  return hasHidden(method) || protectable.has(meant) || isAboutTask(meant) || (meant === listening && method !== listening);
}

/** Control, format and lone surrogate characters, and space around: some servers drop them, and then it is another name. */
function hasHidden(name: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Cs}]/u.test(name) || name !== name.trim();
}

/** One parameter by the letter of RFC 9110 §5.6.6: no space around `=`, and nothing that is quoted twice over. */
const parameter = /^[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")$/;
const utf8 = /^"?utf-?8"?$/i;

/** JSON in UTF-8 and not compressed. What parsers read in different ways (a parameter twice, for one) is not read at all. */
function isPlainJson(contentType = '', contentEncoding = 'identity'): boolean {
  if (contentEncoding.trim().toLowerCase() !== 'identity') return false;
  if (contentType === 'application/json') return true;
  const [essence = '', ...rest] = contentType.split(';').map((part) => part.trim());
  const parameters = rest.filter((one) => one !== '');
  const names = parameters.map((one) => one.slice(0, one.indexOf('=')).toLowerCase());
  const charset = parameters[names.indexOf('charset')]?.slice('charset='.length) ?? 'utf-8';
  return essence.toLowerCase() === 'application/json' && parameters.every((one) => parameter.test(one)) && new Set(names).size === names.length && utf8.test(charset);
}

function acceptsAnswer(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return /(?:^|[,\s])(?:\*\/\*|application\/(?:\*|json)|text\/(?:\*|event-stream))(?:$|[\s;,])/i.test(accept);
}
