/**
 * What a client's session id means. The client never sees the upstream's session id; it gets these facts,
 * sealed for one person, one client and one upstream, so any replica can serve the session and nobody
 * else can use it.
 */

export interface SessionFacts {
  /** Names the session in the store, in notices and in logs; is not the token. */
  readonly id: string;
  /** The upstream's own id; absent for a sessionless upstream. */
  readonly upstreamSession?: string;
  /** The version that the client asked for and the one that the upstream chose. */
  readonly requestedVersion: string;
  readonly negotiatedVersion: string;
  /** The client declared URL elicitation, or the file says so. */
  readonly takesUrls: boolean;
  /** What the client calls itself, at most 64 characters; for display and overrides, never an identity. */
  readonly clientName?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const clientNameLength = 64;

/** `clientInfo.title` or `.name` of an initialize request, cut and without control characters. */
export function displayName(clientInfo: unknown, key: 'name' | 'title'): string | undefined {
  const said = typeof clientInfo === 'object' && clientInfo !== null ? (clientInfo as Record<string, unknown>)[key] : undefined;
  if (typeof said !== 'string') return undefined;
  // Control and direction characters have no place in a name that a page shows
  const clean = said.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').trim();
  return clean === '' ? undefined : [...clean].slice(0, clientNameLength).join('');
}
