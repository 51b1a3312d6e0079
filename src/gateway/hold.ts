/**
 * Calls that wait for their person, on their own response stream and kept alive: legacy ones that the file
 * lets wait (2025-11-25, client/elicitation: `elicitation/create` before the result), and modern ones that
 * come back as soon as the person agreed to open the page. What she gives lets the call go on; her "no"
 * ends it; when the time is over the question is put in the usual form, with fresh links; a client that
 * hangs up ends everything. Each person has only so many.
 */
import { waitForAnswer } from '../elicitation/wait.ts';
import { UnavailableError } from '../errors.ts';
import { personKey } from '../identity/principal.ts';
import { describeError } from '../operate/log.ts';
import { urlRequest } from '../protocol/legacy-answers.ts';
import { messageEvent } from '../protocol/sse.ts';
import { acceptsEvents } from './accepts.ts';
import { ask, distinctOf, putAll, recordAsked, type Elicit } from './ask.ts';
import type { Call, StepResult } from './call.ts';
import { ClientStream } from './client-stream.ts';
import { declinedAnswer } from './declined.ts';
import { freshen } from './freshen.ts';
import type { Gateway } from './gateway.ts';
import { decideWith, lookUp } from './look-up.ts';
import { questionName, questionPlace } from './protected-upstream.ts';

/** What a held call waits for, beside the credential itself. */
interface Waiting {
  readonly tickets: readonly string[];
  /** Requests of ours to the client, the session in which it answers them, and the call that it may cancel there. */
  readonly requests?: { readonly sessionId: string; readonly ids: readonly string[]; readonly idText: string };
}

/** A legacy call: asks on its stream and waits. */
export async function holdCall(gateway: Gateway, call: Call, decision: Elicit, idText: string): Promise<StepResult> {
  const { session } = call;
  if (session === undefined) return ask(gateway, call, decision, idText);
  return held(gateway, call, decision, idText, async () => {
    const missing = distinctOf(decision.missing);
    const questions = await putAll(gateway, call, missing);
    const ids = await Promise.all(questions.map(() => gateway.replies.expect(session.id, gateway.heldCalls.forMs)));
    await gateway.replies.expectCancel(session.id, idText, gateway.heldCalls.forMs);
    recordAsked(gateway, call, missing, 'url-request');
    const stream = begin(gateway, call);
    questions.forEach((question, at) => stream.own(messageEvent(urlRequest(ids[at] ?? '', question))));
    return { tickets: questions.map(({ ticketId }) => ticketId), requests: { sessionId: session.id, ids, idText } };
  });
}

/** A modern call that came back: its person is on her way to the page, or there already. */
export async function holdRetry(gateway: Gateway, call: Call, decision: Elicit, idText: string): Promise<StepResult> {
  const { tickets = [] } = call.round ?? {};
  if (!acceptsEvents(call.raw.headers.accept)) return ask(gateway, call, decision, idText);
  return held(gateway, call, decision, idText, () => {
    begin(gateway, call);
    return Promise.resolve({ tickets });
  });
}

function begin(gateway: Gateway, call: Call): ClientStream {
  return (call.stream ??= new ClientStream(call.reply, gateway.heartbeat, gateway.now));
}

async function held(gateway: Gateway, call: Call, decision: Elicit, idText: string, start: () => Promise<Waiting>): Promise<StepResult> {
  const release = gateway.heldCalls.take(personKey(call.principal));
  if (release === undefined) return ask(gateway, call, decision, idText);
  const hangUp = new AbortController();
  const abort = (): void => { hangUp.abort(); };
  call.reply.once('close', abort);
  try {
    const outcome = await waitFor(gateway, call, decision, await start(), hangUp.signal);
    // A call that its client cancelled has no answer (2025-11-25, basic/utilities/cancellation).
    if (outcome === 'cancelled') call.stream?.end();
    if (outcome === 'gone' || outcome === 'cancelled') return 'taken';
    if (outcome === 'declined') return declinedAnswer(gateway, call, distinctOf(decision.missing).map(questionName), idText);
    const refused = outcome === 'given' ? await freshen(gateway)(call) : undefined;
    if (refused !== undefined) return refused;
    call.decision = decideWith(gateway, call, call.held);
    return call.decision.kind === 'elicit' ? await ask(gateway, call, call.decision, idText) : undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a call could not be held');
    return call.refuse('unavailable');
  } finally {
    call.reply.off('close', abort);
    release();
  }
}

function waitFor(gateway: Gateway, call: Call, { missing }: Elicit, { tickets, requests }: Waiting, signal: AbortSignal) {
  const { issuer, subject } = call.principal;
  const subjects = missing.map((requirement) => ({ issuer, subject, place: questionPlace(requirement), credential: questionName(requirement) }));
  const again = lookUp(gateway);
  return waitForAnswer(
    {
      limitMs: gateway.heldCalls.forMs,
      watch(wake) {
        const ends = subjects.map((one) => gateway.interactions.watch(one, wake));
        if (requests !== undefined) ends.push(gateway.replies.watch(requests.sessionId, wake));
        return () => { for (const end of ends) end(); };
      },
      async look() {
        if (requests !== undefined && (await gateway.replies.isCancelled(requests.sessionId, requests.idText))) return 'cancelled';
        const replies = requests === undefined ? [] : await Promise.all(requests.ids.map((id) => gateway.replies.read(requests.sessionId, id)));
        if (replies.includes('decline') || replies.includes('cancel')) return 'declined';
        if ((await again(call)) !== undefined) throw new UnavailableError('what the person has cannot be looked up');
        if (decideWith(gateway, call, call.held).kind !== 'elicit') return 'given';
        const declined = await Promise.all(tickets.map((ticketId) => gateway.interactions.isDeclined(ticketId)));
        if (declined.includes(true)) return 'declined';
        return replies.includes('failed') ? 'over' : undefined;
      },
    },
    signal,
  );
}
