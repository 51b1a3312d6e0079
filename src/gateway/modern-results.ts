/**
 * What the proxy changes in results of the modern era (2026-07-28): an upstream's own `requestState` on a
 * protected request goes inside ours, what was fetched with a person's secrets is cached for nobody else,
 * and of the versions that an upstream lists those are left that are understood here. Everything else
 * keeps its characters.
 */
import { knownVersions } from '../protocol/era.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { setMember, type MemberPath } from '../protocol/json-edit.ts';
import { mapData } from '../protocol/sse.ts';
import type { Call } from './call.ts';
import type { Gateway } from './gateway.ts';
import { hidingArguments } from './listed-tools.ts';
import type { LiveScrubber } from './sinks.ts';
import { messageIn } from './upstream-messages.ts';

/** What every byte of an answer goes through; undefined where nothing is ever changed. */
export function answerChanges(gateway: Gateway, call: Call): LiveScrubber | undefined {
  const next = hidingArguments(call) ?? call.scrubber;
  const { era, message, required, held } = call;
  if (era === 'legacy' || message.kind !== 'request') return next;
  if (required.length === 0 && held.length === 0 && message.method !== 'server/discover') return next;
  const change = (text: string): string => changed(gateway, call, message.method, text);
  return {
    isEmpty: false,
    json: (bytes) => scrubbed(Buffer.from(change(bytes.toString())), 'json'),
    events: (events) => scrubbed(Buffer.from(mapData(events.toString(), change)), 'events'),
  };
  function scrubbed(bytes: Buffer, kind: 'json' | 'events'): Buffer {
    return next === undefined ? bytes : next[kind](bytes);
  }
}

function changed(gateway: Gateway, call: Call, method: string, text: string): string {
  const result = messageIn(text)?.['result'];
  if (!isObject(result)) return text;
  const edits = [...wrapped(gateway, call, result), ...uncached(call, result), ...(method === 'server/discover' ? cutVersions(result) : [])];
  return edits.reduce((before, { path, value }) => {
    const after = setMember(before, path, JSON.stringify(value));
    return after.ok ? after.value : before;
  }, text);
}

interface Edit {
  readonly path: MemberPath;
  readonly value: unknown;
}

function wrapped(gateway: Gateway, call: Call, { resultType, requestState }: JsonObject): readonly Edit[] {
  if (call.required.length === 0 || resultType !== 'input_required' || typeof requestState !== 'string') return [];
  return [{ path: ['result', 'requestState'], value: gateway.rounds.seal(call, { asked: [], tickets: [], upstreamState: requestState }) }];
}

function uncached({ held }: Call, { cacheScope }: JsonObject): readonly Edit[] {
  return held.length === 0 || cacheScope === undefined || cacheScope === 'private' ? [] : [{ path: ['result', 'cacheScope'], value: 'private' }];
}

function cutVersions({ supportedVersions: versions }: JsonObject): readonly Edit[] {
  if (!Array.isArray(versions) || versions.every((version) => knownVersions.includes(String(version)))) return [];
  return [{ path: ['result', 'supportedVersions'], value: versions.filter((version) => knownVersions.includes(String(version))) }];
}
