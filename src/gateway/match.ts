/**
 * What a message needs: a pure decision over the rules of its upstream. Every rule that
 * matches adds its requirements. Only `tools/call` can match; the handshake, pings and lists never do.
 */
import type { RpcMessage } from '../protocol/json-rpc.ts';
import type { Requirement, ToolRule } from './protected-upstream.ts';

const nothing: readonly Requirement[] = [];

/** The tool that a message calls; `undefined` for every other message. */
export function toolOf(message: RpcMessage): string | undefined {
  if (message.kind !== 'request' || message.method !== 'tools/call') return undefined;
  const name = message.params['name'];
  return typeof name === 'string' ? name : undefined;
}

export function matchRules(rules: readonly ToolRule[], message: RpcMessage): readonly Requirement[] {
  const tool = toolOf(message);
  if (tool === undefined) return nothing;
  let required: Set<Requirement> | undefined;
  for (const rule of rules) {
    if (!rule.matches(tool)) continue;
    required ??= new Set();
    for (const requirement of rule.requires) required.add(requirement);
  }
  return required === undefined ? nothing : [...required];
}
