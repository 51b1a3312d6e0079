/** The step that asks: one question for each missing credential, in the form that this client can take. */
import { textIn } from '../config/text.ts';
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { refusalAnswer, textAnswer, urlErrorAnswer, type Question } from '../protocol/legacy-answers.ts';
import type { Answer } from './answer.ts';
import type { Call, Step } from './call.ts';
import type { Decision, Rung } from './decide.ts';
import type { Gateway } from './gateway.ts';
import type { RequiredCredential } from './protected-upstream.ts';

export function elicit(gateway: Gateway): Step {
  return (call) => {
    const { decision, idText } = call;
    if (decision.kind !== 'elicit') return undefined;
    return idText === undefined ? call.refuse('credential-required') : ask(gateway, call, decision, idText);
  };
}

/** Puts the questions for what is missing. @returns the answer to the call */
export async function ask(gateway: Gateway, call: Call, { missing, rung }: Extract<Decision, { kind: 'elicit' }>, idText: string): Promise<Answer> {
  try {
    const questions = rung === 'refuse' ? [] : await Promise.all(missing.map((credential) => put(gateway, call, credential)));
    recordAsked(gateway, call, missing, rung);
    return answerBy(rung, idText, questions, missing);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a question could not be put');
    return call.refuse('unavailable');
  }
}

function put(gateway: Gateway, call: Call, credential: RequiredCredential): Promise<Question> {
  const { principal, upstream, session, tool } = call;
  const asking = {
    principal,
    upstream: upstream.config,
    ...(tool === undefined ? {} : { tool }),
    ...(session?.clientName === undefined ? {} : { clientName: session.clientName }),
    // Only a client that was given an elicitation id may hear of its end.
    ...(session?.takesUrls === true ? { sessionId: session.id } : {}),
  };
  return gateway.ask(asking, { name: credential.config.name, title: credential.config.title, place: credential.place });
}

function answerBy(rung: Rung, idText: string, questions: readonly Question[], missing: readonly RequiredCredential[]): Answer {
  switch (rung) {
    case 'url-error':
      return { status: 200, body: urlErrorAnswer(idText, questions) };
    case 'text':
      return { status: 200, body: textAnswer(idText, questions) };
    case 'refuse':
      return { status: 200, body: refusalAnswer(idText, missing.map((credential) => textIn(credential.config.title, 'en'))) };
  }
}

function recordAsked(gateway: Gateway, call: Call, missing: readonly RequiredCredential[], rung: Rung): void {
  const { principal, session, tool } = call;
  const upstream = call.upstream.config.name;
  for (const credential of missing) {
    gateway.audit.record('asked', { principal, upstream, credential: credential.config.name, tool, clientName: session?.clientName, rung });
  }
  gateway.log.info({ upstream, tool, rung, missing: missing.map((credential) => credential.config.name), client: session?.clientName }, 'asked for a credential');
}
