/**
 * When an upstream refuses a credential, the same call asks for it again: the secret is marked, and the
 * answer is the question. How an upstream says so is in the file (`rejected`), by default with a 401. At
 * most a few times an hour for one secret; after that the upstream's own error passes, so an upstream that
 * refuses everything cannot keep people busy.
 */
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { isObject, type JsonObject } from '../protocol/json-rpc.ts';
import { EventSplitter, messageEvent } from '../protocol/sse.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { ClientStream } from './client-stream.ts';
import { ask } from './ask.ts';
import type { Gateway } from './gateway.ts';
import { decideWith } from './look-up.ts';
import { secretSlot, type Rejected } from './protected-upstream.ts';
import { targetFacts } from './requested.ts';
import { maxHeldBytes, OversizedAnswer, type Sink } from './sinks.ts';
import { messagesIn } from './upstream-messages.ts';

const hourMs = 3_600_000;

/** Whether this status, to a request that carried a person's secrets, says that one of them is bad. */
export function isRejectedStatus(call: Call, status: number): boolean {
  return call.held.length > 0 && call.upstream.rejected.status.includes(status);
}

/** Whether answers to this call must be looked into for a rejection. */
export function mustInspect(call: Call): boolean {
  const { rpcError, toolError } = call.upstream.rejected;
  return call.held.length > 0 && call.target !== undefined && (rpcError.length > 0 || toolError !== undefined);
}

/** Whether one JSON-RPC answer to a call says that a credential is bad. */
export function isRejectedAnswer(call: Call, answer: JsonObject): boolean {
  return isRejectedBy(call.upstream.rejected, answer);
}

export function isRejectedBy({ rpcError, toolError }: Rejected, answer: JsonObject): boolean {
  const { error, result } = answer;
  if (isObject(error)) return typeof error['code'] === 'number' && rpcError.includes(error['code']);
  return toolError !== undefined && isObject(result) && result['isError'] === true && toolError.test(textOf(result['content']));
}

/**
 * Marks what the call carried and puts the question anew.
 * @returns undefined when the upstream's own error is to pass: the cap is reached, or nothing can be asked here
 */
export async function askAgain(gateway: Gateway, call: Call): Promise<Answer | undefined> {
  try {
    const outcomes = await Promise.all(call.held.map((held) => gateway.vault.reject(secretSlot(call.principal, held.credential), held.secret, { times: call.upstream.rejected.maxPerHour, withinMs: hourMs })));
    if (outcomes.includes('capped')) return undefined;
    recordRejected(gateway, call);
    const { idText } = call;
    const decision = decideWith(gateway, call, []);
    return decision.kind === 'elicit' && idText !== undefined ? await ask(gateway, call, decision, idText) : undefined;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a rejected secret could not be marked');
    return call.refuse('unavailable');
  }
}

function recordRejected(gateway: Gateway, { principal, upstream, held, target, client }: Call): void {
  for (const { credential } of held) {
    gateway.audit.record('rejected', { principal, upstream: upstream.config.name, credential: credential.config.name, ...targetFacts(target), clientName: client.name });
  }
}

/** Looks into each event before it goes on; the one that rejects gives way to the question. */
export function inspectEvents(gateway: Gateway, call: Call, stream: ClientStream, next: Sink): Sink {
  const splitter = new EventSplitter();
  let waiting: Promise<void> | undefined;
  let isAnswered = false;
  const pass = (events: Buffer): boolean => (isAnswered ? true : next.data(events));
  function look(events: Buffer): boolean {
    if (isAnswered || !messagesIn(events).some((message) => isRejectedAnswer(call, message))) return pass(events);
    waiting = askAgain(gateway, call).then((answer) => {
      if (answer?.body === undefined) {
        pass(events);
        return;
      }
      stream.own(messageEvent(answer.body.toString()));
      isAnswered = true;
    }).catch((error: unknown) => {
      // Nobody awaits this: what it throws would end the process.
      gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a call failed inside the proxy');
      isAnswered = true;
      next.fail('unavailable');
    });
    return true;
  }
  return {
    data(chunk) {
      const events = splitter.push(chunk);
      if (splitter.pendingBytes > maxHeldBytes) throw new OversizedAnswer();
      if (events === undefined) return true;
      if (waiting === undefined) return look(events);
      waiting = waiting.then(() => { pass(events); });
      return true;
    },
    end() {
      const finish = (): void => {
        const rest = splitter.rest();
        if (rest.length > 0) pass(rest);
        next.end();
      };
      if (waiting === undefined) finish();
      else void waiting.then(finish);
    },
    fail(reason) {
      if (waiting === undefined) next.fail(reason);
      else void waiting.then(() => { next.fail(reason); });
    },
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.flatMap((part: unknown) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [])).join('\n');
}
