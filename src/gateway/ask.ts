/** Puts the questions for what is missing: one for each requirement, in the form that this client can take. */
import { textIn } from '../config/text.ts';
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { refusalAnswer, textAnswer, textErrorAnswer, urlErrorAnswer } from '../protocol/legacy-answers.ts';
import { inputRequiredAnswer, missingCapabilityAnswer, modernTextAnswer, type NamedQuestion } from '../protocol/modern-answers.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { Decision, Rung } from './decide.ts';
import type { Gateway } from './gateway.ts';
import { questionName, questionPlace, type Requirement } from './protected-upstream.ts';
import { shownName, targetFacts } from './requested.ts';

export type Elicit = Extract<Decision, { kind: 'elicit' }>;

/** @returns the answer to the call */
export async function ask(gateway: Gateway, call: Call, { missing, rung }: Elicit, idText: string): Promise<Answer> {
  try {
    const distinct = distinctOf(missing);
    const questions = rung === 'refuse' ? [] : await putAll(gateway, call, distinct);
    // A call that is not held any more is asked as one that never was.
    const taken = rung === 'url-request' ? 'url-error' : rung;
    recordAsked(gateway, call, distinct, taken);
    return call.era === 'modern' ? modernAnswer(gateway, call, taken, idText, questions, distinct) : legacyAnswer(call, taken, idText, questions, distinct);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    gateway.log.error({ upstream: call.upstream.config.name, reason: describeError(error) }, 'a question could not be put');
    return call.refuse('unavailable');
  }
}

/** Each question once. */
export function distinctOf(missing: readonly Requirement[]): readonly Requirement[] {
  return [...new Map(missing.map((requirement) => [questionName(requirement), requirement])).values()];
}

export function putAll(gateway: Gateway, call: Call, requirements: readonly Requirement[]): Promise<NamedQuestion[]> {
  const { principal, upstream, session, client, target } = call;
  const asking = {
    principal,
    upstream: upstream.config,
    ...(target === undefined ? {} : { target: { kind: target.kind, name: shownName(target) } }),
    ...(client.name === undefined ? {} : { clientName: client.name }),
    // Only a client that was given an elicitation id may hear of its end.
    ...(session?.takesUrls === true ? { sessionId: session.id } : {}),
  };
  return Promise.all(
    requirements.map(async (requirement) => {
      const key = questionName(requirement);
      const scopes = scopesOf(call, requirement);
      const question = await gateway.ask(asking, {
        name: key,
        titles: requirement.anyOf.map(({ config }) => config.title),
        place: questionPlace(requirement),
        ...(scopes.length === 0 ? {} : { scopes }),
        isAccount: requirement.anyOf.every(({ config }) => config.kind === 'oauth'),
      });
      return { key, ...question };
    }),
  );
}

/** One question asks for everything that this call needs of the same account. */
function scopesOf({ required }: Call, requirement: Requirement): readonly string[] {
  const same = required.filter((one) => questionName(one) === questionName(requirement));
  return [...new Set([requirement, ...same].flatMap(({ scopes = [] }) => scopes))];
}

function modernAnswer(gateway: Gateway, call: Call, rung: Rung, idText: string, questions: readonly NamedQuestion[], missing: readonly Requirement[]): Answer {
  if (rung === 'input-required') {
    const { upstreamState } = call.round ?? {};
    const round = { asked: questions.map(({ key }) => key), tickets: questions.map(({ ticketId }) => ticketId), ...(upstreamState === undefined ? {} : { upstreamState }) };
    return { status: 200, body: inputRequiredAnswer(idText, questions, gateway.rounds.seal(call, round)) };
  }
  if (rung === 'text' && call.tool !== undefined) return { status: 200, body: modernTextAnswer(idText, questions) };
  return { status: 400, body: missingCapabilityAnswer(idText, titlesOf(missing), questions.map(({ url }) => url)) };
}

function legacyAnswer(call: Call, rung: Rung, idText: string, questions: readonly NamedQuestion[], missing: readonly Requirement[]): Answer {
  if (rung === 'url-error') return { status: 200, body: urlErrorAnswer(idText, questions) };
  if (rung !== 'text') return { status: 200, body: refusalAnswer(idText, titlesOf(missing)) };
  // Only a tool has a result that can say such a thing.
  return { status: 200, body: call.tool === undefined ? textErrorAnswer(idText, questions) : textAnswer(idText, questions) };
}

function titlesOf(missing: readonly Requirement[]): readonly string[] {
  return missing.map(({ anyOf }) => anyOf.map(({ config }) => textIn(config.title, 'en')).join(' or '));
}

export function recordAsked(gateway: Gateway, call: Call, missing: readonly Requirement[], rung: Rung): void {
  const { principal, client, tool } = call;
  const named = targetFacts(call.target);
  const upstream = call.upstream.config.name;
  for (const requirement of missing) {
    gateway.audit.record('asked', { principal, upstream, credential: questionName(requirement), ...named, clientName: client.name, rung });
  }
  gateway.log.info({ upstream, tool, rung, missing: missing.map(questionName), client: client.name }, 'asked for a credential');
}
