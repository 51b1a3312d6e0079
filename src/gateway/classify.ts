/**
 * The steps that settle the era of a request and whether its headers say what its body says: somebody on
 * the way could be led by them past a rule. A modern version that is not understood is refused with those
 * that are; at an upstream of the legacy era it passes, so that the upstream's own words come back.
 */
import { eraOfHeader, knownVersions, modernVersions } from '../protocol/era.ts';
import { errorResponse, type RpcRequest } from '../protocol/json-rpc.ts';
import { checkModernRequest, decodeHeader, versionInMeta } from '../protocol/modern-request.ts';
import { refuseBare } from './answer.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import { targetsOf } from './requested.ts';

const unsupportedVersion = -32022;

export function classify(gateway: Gateway): Step {
  return (call) => {
    const { message } = call;
    if (call.era === 'legacy') return isMirrored(call) ? undefined : call.refuse('invalid-request');
    if (message.kind !== 'request') return undefined;
    const { headers } = call.raw;
    const fault = checkModernRequest(message, (name) => one(headers[name]));
    if (fault !== undefined) return call.refuse(fault);
    return modernVersions.includes(versionInMeta(message) ?? '') ? undefined : refuseVersion(gateway, call, message);
  };
}

async function refuseVersion(gateway: Gateway, call: Call, message: RpcRequest): Promise<StepResult> {
  const found = await gateway.eras.of(call.upstream);
  if (found.era !== 'modern') return undefined;
  const supported = found.versions === undefined ? modernVersions : knownVersions.filter((version) => found.versions?.includes(version));
  const error = { code: unsupportedVersion, message: 'Unsupported protocol version', data: { supported, requested: versionInMeta(message) } };
  return { status: 400, body: errorResponse(message.idText, error) };
}

function isMirrored({ message, raw: { headers } }: Call): boolean {
  const { 'mcp-method': method, 'mcp-name': name } = headers;
  if (message.kind === 'response') return method === undefined && name === undefined;
  const named = targetsOf(message)[0]?.name ?? message.params['name'] ?? message.params['uri'];
  return (method === undefined || method === message.method) && (name === undefined || decodeHeader(String(name)) === named);
}

/** GET and DELETE have no message; the modern era does not use them. */
export function classifyBare(call: Call): StepResult {
  return eraOfHeader(one(call.raw.headers['mcp-protocol-version'])) === 'legacy' ? undefined : refuseBare('no-stream', { allow: 'POST' });
}

function one(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
