/**
 * What a request is about: the tool that it calls, the resource that it reads or subscribes to, the prompt
 * that it gets, the resources that it listens to, or what it completes (MCP 2025-11-25,
 * server/utilities/completion). Only these can be
 * protected; the handshake, pings and lists are about nothing.
 */
import { isObject, type JsonObject, type RpcMessage } from '../protocol/json-rpc.ts';

export interface Target {
  readonly kind: 'tool' | 'resource' | 'prompt';
  /** The tool's or prompt's name, the resource's URI. */
  readonly name: string;
}

/** Methods that can be protected, and the member of `params` that names what they are about. */
const members: ReadonlyMap<string, { readonly kind: Target['kind']; readonly key: 'name' | 'uri' }> = new Map([
  ['tools/call', { kind: 'tool', key: 'name' }],
  ['resources/read', { kind: 'resource', key: 'uri' }],
  ['resources/subscribe', { kind: 'resource', key: 'uri' }],
  ['prompts/get', { kind: 'prompt', key: 'name' }],
]);

const completion = 'completion/complete';

/** The modern way to subscribe to resources; it may name none (2026-07-28, basic/patterns/subscriptions). */
export const listening = 'subscriptions/listen';
/** Of one request; each is compared with each rule. */
const mostSubscriptions = 500;

export const protectable: ReadonlySet<string> = new Set([...members.keys(), completion]);

/** @returns all that the message is about; more than one where it listens to several resources, or completes a prompt and a resource */
export function targetsOf(message: RpcMessage): readonly Target[] {
  if (message.kind !== 'request') return [];
  const { method, params } = message;
  const member = members.get(method);
  if (member !== undefined) return named(member.kind, params[member.key]);
  if (method === listening) return subscriptionsIn(params)?.flatMap((uri) => named('resource', uri)) ?? [];
  if (method !== completion || !isObject(params['ref'])) return [];
  // Whatever its type says: some servers go by what is there.
  return [...named('prompt', params['ref']['name']), ...named('resource', params['ref']['uri'])];
}

/** Whether it can be said which resources a message listens to, if it listens. */
export function isListeningPlainly(message: RpcMessage): boolean {
  if (message.kind === 'response' || message.method !== listening) return true;
  const uris = subscriptionsIn(message.params);
  return message.kind === 'request' && uris !== undefined && uris.length <= mostSubscriptions && uris.every((uri) => typeof uri === 'string');
}

/** @returns undefined for what is no list */
function subscriptionsIn({ notifications }: JsonObject): readonly unknown[] | undefined {
  if (notifications === undefined) return [];
  if (!isObject(notifications)) return undefined;
  const uris = notifications['resourceSubscriptions'] ?? [];
  return Array.isArray(uris) ? uris : undefined;
}

/** The tool that a message calls; `undefined` for every other message. */
export function toolOf(message: RpcMessage): string | undefined {
  const [target] = targetsOf(message);
  return target?.kind === 'tool' ? target.name : undefined;
}

function named(kind: Target['kind'], name: unknown): readonly Target[] {
  return typeof name === 'string' ? [{ kind, name }] : [];
}

/** How trails and people are told of it: without a query, which may hold anything. */
export function targetFacts(target: Target | undefined): { readonly tool?: string; readonly resource?: string; readonly prompt?: string } {
  if (target === undefined) return {};
  return { [target.kind]: shownName(target) };
}

export function shownName({ kind, name }: Target): string {
  return kind === 'resource' ? name.replace(/[?#].*$/s, '') : name;
}
