/**
 * The era of an upstream: asked once with `server/discover`, when a modern request must be answered by the
 * proxy itself, and kept. An upstream that refuses a modern request may have changed and is asked again;
 * one that cannot be asked at all is not remembered.
 */
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { modernVersions } from '../protocol/era.ts';
import type { Clock } from '../stores/store.ts';
import { askUpstream, type OwnAnswer } from './own-request.ts';
import type { ProtectedUpstream } from './protected-upstream.ts';
import { injectedHeaders } from './request-headers.ts';

export interface UpstreamEra {
  /** `unknown`: it does not answer us, or only those whom it knows. */
  readonly era: 'modern' | 'legacy' | 'unknown';
  /** Every version that it lists. */
  readonly versions?: readonly string[];
}

export interface UpstreamEras {
  of(upstream: ProtectedUpstream): Promise<UpstreamEra>;
  /** A modern request was refused by it. */
  forget(upstream: ProtectedUpstream): void;
}

const withinMs = 10_000;
/** A legacy upstream may be replaced at any time by a newer one. */
const legacyForMs = 60_000;
const modernErrors = new Set<unknown>([-32020, -32021, -32022]);

export function createUpstreamEras(now: Clock): UpstreamEras {
  const known = new Map<ProtectedUpstream, { readonly found: UpstreamEra; readonly until: number }>();
  const asking = new Map<ProtectedUpstream, Promise<UpstreamEra>>();
  async function ask(upstream: ProtectedUpstream): Promise<UpstreamEra> {
    const found = await probe(upstream);
    if (found.era !== 'unknown') known.set(upstream, { found, until: found.era === 'legacy' ? now() + legacyForMs : Infinity });
    return found;
  }
  return {
    async of(upstream) {
      const kept = known.get(upstream);
      if (kept !== undefined && kept.until > now()) return kept.found;
      const answer = asking.get(upstream) ?? ask(upstream).finally(() => asking.delete(upstream));
      asking.set(upstream, answer);
      return answer;
    },
    forget(upstream) {
      known.delete(upstream);
    },
  };
}

async function probe(upstream: ProtectedUpstream): Promise<UpstreamEra> {
  const [version = ''] = modernVersions;
  const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientInfo': { name: 'elicitgate', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'discover', method: 'server/discover', params: { _meta: meta } }));
  const headers = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream', 'mcp-protocol-version', version, 'mcp-method', 'server/discover', ...injectedHeaders([], upstream.operatorHeaders)];
  const answer = await askUpstream(upstream.adapter, { method: 'POST', headers, body }, withinMs);
  return answer.ok ? read(answer.value) : { era: 'unknown' };
}

function read({ status, message }: OwnAnswer): UpstreamEra {
  if (status === 401 || status === 403 || status >= 500) return { era: 'unknown' };
  const result: JsonObject = isObject(message?.['result']) ? message['result'] : {};
  const error: JsonObject = isObject(message?.['error']) ? message['error'] : {};
  const data: JsonObject = isObject(error['data']) ? error['data'] : {};
  const versions = listOf(result['supportedVersions'] ?? data['supported']);
  if (versions.some((version) => modernVersions.includes(version))) return { era: 'modern', versions };
  return { era: modernErrors.has(error['code']) && error['code'] !== -32022 ? 'modern' : 'legacy' };
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
