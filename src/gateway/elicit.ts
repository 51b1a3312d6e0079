/** The step that asks: one question for each missing requirement, in the form that this client can take. */
import { textIn } from '../config/text.ts';
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { refusalAnswer, textAnswer, textErrorAnswer, urlErrorAnswer, type Question } from '../protocol/legacy-answers.ts';
import type { Answer } from './answer.ts';
import type { Call, Step } from './call.ts';
import type { Decision, Rung } from './decide.ts';
import type { Gateway } from './gateway.ts';
import { shownName, targetFacts } from './requested.ts';
import { questionName, questionPlace, type Requirement } from './protected-upstream.ts';

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
    const distinct = [...new Map(missing.map((requirement) => [questionName(requirement), requirement])).values()];
    const questions = rung === 'refuse' ? [] : await Promise.all(distinct.map((requirement) => put(gateway, call, requirement)));
    recordAsked(gateway, call, distinct, rung);
    return answerBy(call, rung, idText, questions, distinct);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a question could not be put');
    return call.refuse('unavailable');
  }
}

function put(gateway: Gateway, call: Call, requirement: Requirement): Promise<Question> {
  const { principal, upstream, session, target } = call;
  const asking = {
    principal,
    upstream: upstream.config,
    ...(target === undefined ? {} : { target: { kind: target.kind, name: shownName(target) } }),
    ...(session?.clientName === undefined ? {} : { clientName: session.clientName }),
    // Only a client that was given an elicitation id may hear of its end.
    ...(session?.takesUrls === true ? { sessionId: session.id } : {}),
  };
  const scopes = scopesOf(call, requirement);
  return gateway.ask(asking, {
    name: questionName(requirement),
    titles: requirement.anyOf.map(({ config }) => config.title),
    place: questionPlace(requirement),
    ...(scopes.length === 0 ? {} : { scopes }),
    isAccount: requirement.anyOf.every(({ config }) => config.kind === 'oauth'),
  });
}

/** One question asks for everything that this call needs of the same account. */
function scopesOf({ required }: Call, requirement: Requirement): readonly string[] {
  const same = required.filter((one) => questionName(one) === questionName(requirement));
  return [...new Set([requirement, ...same].flatMap(({ scopes = [] }) => scopes))];
}

function answerBy(call: Call, rung: Rung, idText: string, questions: readonly Question[], missing: readonly Requirement[]): Answer {
  switch (rung) {
    case 'url-error':
      return { status: 200, body: urlErrorAnswer(idText, questions) };
    case 'text':
      // Only a tool has a result that can say such a thing.
      return { status: 200, body: call.tool === undefined ? textErrorAnswer(idText, questions) : textAnswer(idText, questions) };
    case 'refuse':
      return { status: 200, body: refusalAnswer(idText, missing.map(({ anyOf }) => anyOf.map(({ config }) => textIn(config.title, 'en')).join(' or '))) };
  }
}

function recordAsked(gateway: Gateway, call: Call, missing: readonly Requirement[], rung: Rung): void {
  const { principal, session, tool } = call;
  const named = targetFacts(call.target);
  const upstream = call.upstream.config.name;
  for (const requirement of missing) {
    gateway.audit.record('asked', { principal, upstream, credential: questionName(requirement), ...named, clientName: session?.clientName, rung });
  }
  gateway.log.info({ upstream, tool, rung, missing: missing.map(questionName), client: session?.clientName }, 'asked for a credential');
}
