/**
 * A session at an upstream that the proxy opens itself, with a person's secrets: in place of one whose
 * secrets have changed, or to try a secret. Opened as a client opens one (MCP 2025-11-25, basic/lifecycle).
 */
import { err, ok, type Result } from '../errors.ts';
import { isObject, parseMessage, type JsonObject } from '../protocol/json-rpc.ts';
import type { UpstreamRequest } from '../upstreams/upstream.ts';
import type { HeldCredential } from './decide.ts';
import { injectIntoMessage } from './inject-body.ts';
import { renderHeaders, renderQuery } from './inject.ts';
import { askUpstream, type OwnAnswer, type OwnFailure } from './own-request.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';
import { injectedHeaders } from './request-headers.ts';
import { toolOf } from './requested.ts';
import { personalFor } from './upstream-request.ts';

/** No person's key looks like this: what is tried runs beside her own processes. */
const ownPerson = 'trial';

export interface OwnSession {
  /** The upstream's own id; absent for a sessionless upstream. */
  readonly session: string | undefined;
  /** The version that the upstream chose; empty when it said none. */
  readonly version: string;
}

/** At whose upstream, and with which secrets. */
export interface OwnSide {
  readonly upstream: ProtectedUpstream;
  readonly held: readonly HeldCredential[];
  /** For the next request. */
  readonly limitMs: number;
}

/** @returns the session, or what the upstream answered to `initialize` instead */
export async function openOwnSession(side: OwnSide, initializeParams: JsonObject): Promise<Result<OwnSession, OwnFailure | OwnAnswer>> {
  const answer = await postOwn(side, undefined, { jsonrpc: '2.0', id: 'elicitgate-open', method: 'initialize', params: initializeParams });
  if (!answer.ok) return answer;
  const { message, session, status } = answer.value;
  const result = message?.['result'];
  if (status >= 300 || !isObject(result)) return err(answer.value);
  const version = result['protocolVersion'];
  const opened: OwnSession = { session, version: typeof version === 'string' && /^[\x21-\x7e]{1,32}$/.test(version) ? version : '' };
  const told = await postOwn(side, opened, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return told.ok ? ok(opened) : told;
}

/** Sends one message in a session that the proxy opened. */
export function postOwn({ upstream, held, limitMs }: OwnSide, session: OwnSession | undefined, message: JsonObject): Promise<Result<OwnAnswer, OwnFailure>> {
  const headers = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream', ...sessionHeaders(session), ...injectedHeaders(renderHeaders(held), upstream.operatorHeaders)];
  const body = Buffer.from(JSON.stringify(message));
  const parsed = parseMessage(body);
  if (!parsed.ok) throw new Error(`a message of the proxy's own is ${parsed.error}`);
  const injected = injectIntoMessage({ body, held, message: parsed.value, tool: toolOf(parsed.value), upstream }, headers);
  if (!injected.ok) return Promise.resolve(err('unreachable'));
  const request: UpstreamRequest = { method: 'POST', ...injected.value, query: renderQuery(held), ...personalFor(upstream, held, ownPerson) };
  return askUpstream(upstream.adapter, request, limitMs);
}

/** Ends the session; an upstream that cannot be told forgets it by itself. */
export async function endOwnSession({ upstream, held, limitMs }: OwnSide, session: OwnSession): Promise<void> {
  if (session.session === undefined) return;
  const headers = [...sessionHeaders(session), ...injectedHeaders(renderHeaders(held), upstream.operatorHeaders)];
  await askUpstream(upstream.adapter, { method: 'DELETE', headers, query: renderQuery(held), ...personalFor(upstream, held, ownPerson) }, limitMs);
}

function sessionHeaders(session: OwnSession | undefined): string[] {
  if (session === undefined) return [];
  return [...(session.version === '' ? [] : ['mcp-protocol-version', session.version]), ...(session.session === undefined ? [] : ['mcp-session-id', session.session])];
}
