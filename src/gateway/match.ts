/**
 * What a message needs: a pure decision over the rules of its upstream. Every rule that matches adds its
 * requirements. Only requests about a tool, a resource or a prompt can match; the handshake, pings and
 * lists never do.
 */
import type { Claims } from '../identity/principal.ts';
import type { RpcMessage } from '../protocol/json-rpc.ts';
import { unjudgeable, type Facts } from './conditions.ts';
import type { CallRule, Requirement } from './protected-upstream.ts';
import { targetsOf } from './requested.ts';

const nothing: readonly Requirement[] = [];

/** @param claims of the caller */
export function matchRules(rules: readonly CallRule[], message: RpcMessage, claims: Claims = {}): readonly Requirement[] {
  if (rules.length === 0) return nothing;
  const targets = targetsOf(message);
  if (targets.length === 0) return nothing;
  const facts: Facts = { arguments: argumentsOf(message), claims };
  let required: Set<Requirement> | undefined;
  for (const rule of rules) {
    if (!targets.some(rule.names) || !rule.applies(facts)) continue;
    required ??= new Set();
    for (const requirement of rule.requires) required.add(requirement);
  }
  return required === undefined ? nothing : [...required];
}

/** Reading a resource has no arguments, and a completion only a part of them. */
function argumentsOf(message: RpcMessage): unknown {
  if (message.kind !== 'request') return undefined;
  const { method, params } = message;
  return method === 'tools/call' || method === 'prompts/get' ? params['arguments'] : unjudgeable;
}
