/**
 * Tries what a person gave before anything of it is stored: with a request to an address of the file, or
 * with a harmless call of a tool, in a short session of the proxy's own. Told apart are: it is good, it was
 * refused, no answer came in time, and nobody could be asked. Neither the values nor anything that the
 * other side says reaches a log or a page.
 */
import { verifyOrigin } from '../config/destination.ts';
import type { Config } from '../config/config.ts';
import type { HeldCredential } from '../gateway/decide.ts';
import { endOwnSession, openOwnSession, postOwn, type OwnSide } from '../gateway/own-session.ts';
import type { OwnAnswer } from '../gateway/own-request.ts';
import type { ProtectedUpstream, RequiredCredential } from '../gateway/protected-upstream.ts';
import { isRejectedBy } from '../gateway/rejection.ts';
import type { Log } from '../operate/log.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { Clock } from '../stores/store.ts';
import { verifyOf } from './kinds.ts';

export type Verdict = 'good' | 'refused' | 'timeout' | 'unreachable';

/** Tries the fields that were given for a credential of an upstream; `good` where the file wants no trial. */
export type Verify = (credential: RequiredCredential, upstream: ProtectedUpstream, fields: Readonly<Record<string, string>>) => Promise<Verdict>;

export interface VerifyParts {
  readonly fetch: (url: string, init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal }) => Promise<Response>;
  readonly log: Log;
  readonly now: Clock;
  /** How long the whole trial may take. */
  readonly limitMs: number;
}

type Trial = NonNullable<ReturnType<typeof verifyOf>>;
type ByUrl = Extract<Trial, { url: URL }>;
type ByTool = Exclude<Trial, ByUrl>;

export function createVerify(parts: VerifyParts): Verify {
  return async (credential, upstream, fields) => {
    const { name } = credential.config;
    const verify = verifyOf(credential.config);
    if (verify === undefined) return 'good';
    const verdict = 'url' in verify ? await byUrl(parts, verify, fields) : await byTool(parts, verify, upstream, heldFor(credential, fields, parts.now()));
    if (verdict !== 'good') parts.log.info({ upstream: upstream.config.name, credential: name, outcome: verdict }, 'what a person gave was tried and not found good');
    return verdict;
  };
}

/** Where the addresses of trials lie: the file names them, so they are reached wherever they are. */
export function verifyOrigins({ credentials }: Pick<Config, 'credentials'>): readonly string[] {
  return Object.values(credentials).flatMap(verifyOrigin);
}

/** Every header that is made from the fields of a credential: the upstream's, and those of the trial. */
export function headersOf({ headers, config }: RequiredCredential): RequiredCredential['headers'] {
  const verify = verifyOf(config);
  const own = verify !== undefined && 'url' in verify ? Object.entries(verify.headers) : [];
  return [...headers, ...own.map(([name, value]) => ({ name, value }))];
}

async function byUrl({ fetch, limitMs }: VerifyParts, { url, headers, expect }: ByUrl, fields: Readonly<Record<string, string>>): Promise<Verdict> {
  const rendered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.render(fields)]));
  const signal = AbortSignal.timeout(limitMs);
  let status: number;
  try {
    const answer = await fetch(url.href, { headers: rendered, signal });
    status = answer.status;
    await answer.body?.cancel();
  } catch (error) {
    return isTimeout(error) ? 'timeout' : 'unreachable';
  }
  if (expect.includes(status)) return 'good';
  return isPassing(status) ? 'unreachable' : 'refused';
}

/** Statuses that say nothing about what was sent: try again later. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError') return true;
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause && /^UND_ERR_.*_TIMEOUT$/.test(String(cause.code));
}

async function byTool({ limitMs, now }: VerifyParts, verify: ByTool, upstream: ProtectedUpstream, held: HeldCredential): Promise<Verdict> {
  const until = now() + limitMs;
  const side: OwnSide = { upstream, held: [held], get limitMs() { return Math.max(1, until - now()); } };
  const opened = await openOwnSession(side, { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'elicitgate', version: '1' } });
  if (!opened.ok) return typeof opened.error === 'string' ? opened.error : verdictOf(upstream, opened.error);
  const answer = await postOwn(side, opened.value, { jsonrpc: '2.0', id: 'elicitgate-verify', method: 'tools/call', params: { name: verify.tool, arguments: verify.arguments } });
  // What this answers changes nothing any more, and she need not wait for it.
  void endOwnSession(side, opened.value);
  return answer.ok ? verdictOf(upstream, answer.value) : answer.error;
}

/** An upstream whose way to refuse is in the file refuses in that way; otherwise any error of the tool is a refusal. */
function verdictOf(upstream: ProtectedUpstream, { status, message }: OwnAnswer): Verdict {
  if (status === 401 || status === 403 || upstream.rejected.status.includes(status)) return 'refused';
  if (message === undefined || status >= 300) return 'unreachable';
  if (isRejectedBy(upstream.rejected, message)) return 'refused';
  const { result } = message;
  if (!isObject(result)) return 'unreachable';
  if (result['isError'] !== true) return 'good';
  return upstream.rejected.toolError === undefined ? 'refused' : 'unreachable';
}

function heldFor(credential: RequiredCredential, fields: Readonly<Record<string, string>>, now: number): HeldCredential {
  const { destination, config } = credential;
  return { credential, secret: { fields, destination, shape: config.shape, storedAt: now, lastUsedAt: now, clients: [] } };
}
