/**
 * An upstream of the HTTP+SSE transport (MCP 2024-11-05). Each session has a connection of its own, opened
 * with the operator's headers; what carries a person's secrets goes over a second one of that session,
 * opened with them and with the client's own parameters. A session is over when its connection is: what the
 * server knew of it is gone.
 */
import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import type { Certificates } from './certificates.ts';
import { Conversation, type Owner } from './conversation.ts';
import { createConversationPool } from './conversation-pool.ts';
import type { Report } from './peer.ts';
import { connectSse } from './sse-connection.ts';
import { carriesSecrets, SessionHost, type Conversations } from './session-host.ts';
import type { Session } from './session-route.ts';
import type { Upstream, UpstreamRequest } from './upstream.ts';

const connectTimeoutMs = 10_000;
const openWithinMs = 30_000;
const mostConnections = 10_000;
/** A connection without a call for so long ends; clients that listen only begin anew. */
const idleAfterMs = 3_600_000;
/** Of a request, and not of the connection. */
const perRequest = new Set(['accept', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id', 'traceparent', 'tracestate', 'baggage']);

export function createSseUpstream(url: URL, timeoutMs: number, certificates: Certificates, report: Report): Upstream {
  const connections = new Pool(url.origin, { allowH2: false, pipelining: 1, headersTimeout: timeoutMs, connect: { timeout: connectTimeoutMs, ...certificates } });
  const pool = createConversationPool({ idleAfterMs, maxOpen: mostConnections });

  function open(session: Session, request: UpstreamRequest, owner: Owner): Conversation {
    const headers = connectionHeaders(request);
    return new Conversation((events) => connectSse(connections, url, headers, events), {
      opening: { method: 'initialize', params: session.params },
      owner,
      timeoutMs,
      openWithinMs: Math.min(timeoutMs, openWithinMs),
      noise: () => { report({}, 'the upstream sent an event that is no message'); },
    });
  }
  function conversationOf(session: Session, request: UpstreamRequest, owner: Owner): Conversation {
    const holdsSecrets = carriesSecrets(request);
    const digest = createHash('sha256').update(JSON.stringify(request.injected ?? [])).digest('base64url');
    const kind = holdsSecrets ? 'secret' : 'plain';
    const conversation = pool.get({ key: JSON.stringify([session.id, kind]), digest: holdsSecrets ? digest : '', person: session.person, holdsSecrets, open: () => open(session, request, owner) }, session.id);
    if (!holdsSecrets) conversation.onLost = () => { host.end(session.id); };
    return conversation;
  }

  const conversations: Conversations = {
    isDiscoveryShared: false,
    discovery: conversationOf,
    own: conversationOf,
    left: (session) => { pool.left(session.id); },
    forget: (person) => { pool.forget(person); },
    async close() {
      await pool.close();
      await connections.destroy();
    },
  };
  const host = new SessionHost(conversations, report);
  return host;
}

function connectionHeaders({ headers }: UpstreamRequest): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (!perRequest.has(name.toLowerCase())) kept.push(name, headers[at + 1] ?? '');
  }
  return kept;
}
