/**
 * The step that finds the upstream session behind the client's, and opens a new one when the secrets that
 * belong to it have changed: given, replaced or revoked. The client notices nothing: the new session gets
 * her client's own `initialize`, her stream goes on, and the old one ends once no call runs in it any more.
 * A call never goes into a session that was opened with other secrets.
 */
import { ok, UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { nameOfSecrets, type Binding } from './bindings.ts';
import type { Call, Step, StepResult } from './call.ts';
import type { Gateway } from './gateway.ts';
import { endOwnSession, openOwnSession, type OwnSide } from './own-session.ts';
import { askAgain, isRejectedBy } from './rejection.ts';
import type { Session } from './sessions.ts';

type Refused = 'timeout' | 'unreachable' | 'rejected' | 'lost';
type Outcome = { readonly binding: Binding | undefined } | { readonly refused: Refused };

/** How long the new session may take to open. */
const openWithinMs = 15_000;

export function rebind(gateway: Gateway): Step {
  const opening = new Map<string, { readonly secrets: string; readonly outcome: Promise<Outcome> }>();
  const busy = new Map<string, { count: number; whenIdle?: () => void }>();

  /** Once for all calls of a session that wait for it. */
  function open(call: Call, session: Session, secrets: string): Promise<Outcome> {
    const underway = opening.get(session.id);
    if (underway?.secrets === secrets) return underway.outcome;
    // Whatever became of the one before, this one has its own secrets to open with.
    const outcome = Promise.allSettled([underway?.outcome]).then(() => reopen(gateway, call, session, secrets, (before, end) => { endWhenIdle(busyKey(call, before), end); })).finally(() => {
      if (opening.get(session.id)?.outcome === outcome) opening.delete(session.id);
    });
    opening.set(session.id, { secrets, outcome });
    return outcome;
  }
  function endWhenIdle(key: string, end: () => void): void {
    const state = busy.get(key);
    if (state === undefined) end();
    else state.whenIdle = end;
  }
  function use(call: Call, { upstreamSession, negotiatedVersion }: Binding): void {
    if (call.session === undefined) return;
    call.session = withUpstream(call.session, upstreamSession, negotiatedVersion);
    // A reply that is closed already would be counted for ever.
    if (call.raw.method !== 'POST' || upstreamSession === undefined || call.reply.destroyed) return;
    const key = busyKey(call, upstreamSession);
    const state = busy.get(key) ?? { count: 0 };
    state.count += 1;
    busy.set(key, state);
    call.reply.once('close', () => {
      state.count -= 1;
      if (state.count > 0) return;
      busy.delete(key);
      state.whenIdle?.();
    });
  }
  async function settle(call: Call, session: Session, secrets: string): Promise<StepResult> {
    try {
      const outcome = call.raw.method === 'DELETE' ? { binding: await gateway.bindings.read(session) } : await open(call, session, secrets);
      if ('refused' in outcome) return await refuse(gateway, call, outcome.refused);
      // Its client may have ended it meanwhile.
      if (call.raw.method !== 'DELETE' && (await gateway.sessions.isEnded(session))) return call.refuse('unknown-session');
      if (outcome.binding !== undefined) use(call, outcome.binding);
      return undefined;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'the session could not be looked up');
      return call.refuse('unavailable');
    }
  }
  return (call) => {
    const { session } = call;
    if (session === undefined || !isBound(session, call)) return undefined;
    const secrets = nameOfSecrets(call.held);
    const known = gateway.bindings.known(session);
    if (known === null) return undefined;
    if (known === undefined || (known.secrets !== secrets && call.raw.method !== 'DELETE')) return settle(call, session, secrets);
    use(call, known);
    return undefined;
  };
}

/** Ids are each upstream's own. */
function busyKey({ upstream }: Call, upstreamSession: string): string {
  return `${upstream.config.name} ${upstreamSession}`;
}

/** Whether the secrets belong to the session as a whole, not only to some calls. */
export function isBound({ upstreamSession }: Session, { upstream: { config, credentials } }: Pick<Call, 'upstream'>): boolean {
  // Processes and event streams have a place of their own for each set of secrets.
  return config.transport === 'streamable-http' && config.attach === 'always' && credentials.length > 0 && (upstreamSession !== undefined || config.catalogue !== undefined);
}

function withUpstream({ upstreamSession: _before, ...session }: Session, upstreamSession: string | undefined, negotiatedVersion: string): Session {
  return { ...session, negotiatedVersion, ...(upstreamSession === undefined ? {} : { upstreamSession }) };
}

/** A new upstream session; none where the upstream would let nobody in. */
function openFor(side: OwnSide, before: Binding): ReturnType<typeof openOwnSession> {
  const isLetIn = side.held.length > 0 || side.upstream.config.catalogue === undefined;
  return isLetIn ? openOwnSession(side, before.params) : Promise.resolve(ok({ session: undefined, version: before.negotiatedVersion }));
}

async function reopen(gateway: Gateway, call: Call, session: Session, secrets: string, endWhenIdle: (upstreamSession: string, end: () => void) => void): Promise<Outcome> {
  const isKnown = gateway.bindings.known(session) !== undefined;
  const before = await gateway.bindings.read(session);
  // Opened here, with other secrets, and not stored: how it was opened is lost, so the client opens another.
  if (before === undefined && isKnown) return { refused: 'lost' };
  if (before === undefined || before.secrets === secrets) return { binding: before };
  const side: OwnSide = { upstream: call.upstream, held: call.held, limitMs: openWithinMs };
  const opened = await openFor(side, before);
  if (!opened.ok) return { refused: typeof opened.error === 'string' ? opened.error : isRejected(call, opened.error) ? 'rejected' : 'unreachable' };
  const next: Binding = { ...before, secrets, upstreamSession: opened.value.session, negotiatedVersion: opened.value.version };
  if (!(await gateway.bindings.replace(session, next))) {
    void endOwnSession(side, opened.value);
    return { binding: await gateway.bindings.read(session) };
  }
  if (await gateway.sessions.isEnded(session)) {
    void endOwnSession(side, opened.value);
    return { refused: 'lost' };
  }
  gateway.log.info({ upstream: call.upstream.config.name, client: session.clientName }, 'a new upstream session took the place of one with other secrets');
  const { upstreamSession } = before;
  if (upstreamSession !== undefined) endWhenIdle(upstreamSession, () => void endOwnSession(side, { session: upstreamSession, version: before.negotiatedVersion }));
  gateway.streams.bySession.get(session.id)?.reopen(withUpstream(session, next.upstreamSession, next.negotiatedVersion), call.held);
  return { binding: next };
}

function isRejected({ held, upstream }: Call, { status, message }: { readonly status: number; readonly message: Parameters<typeof isRejectedBy>[1] | undefined }): boolean {
  return held.length > 0 && (upstream.rejected.status.includes(status) || (message !== undefined && isRejectedBy(upstream.rejected, message)));
}

async function refuse(gateway: Gateway, call: Call, refused: Refused): Promise<StepResult> {
  if (refused === 'lost') return call.refuse('unknown-session');
  const answer = refused === 'rejected' && call.idText !== undefined ? await askAgain(gateway, call) : undefined;
  return answer ?? call.refuse(refused === 'timeout' ? 'too-slow' : 'unreachable');
}
