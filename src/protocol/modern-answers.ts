/**
 * How the question reaches a client of the modern era (2026-07-28, basic/patterns/mrtr): a result that asks
 * for input, one URL for each missing credential; a text or an error for clients that cannot open URLs.
 */
import { textAnswer, type Question } from './legacy-answers.ts';
import { errorResponse, resultResponse } from './json-rpc.ts';

export interface NamedQuestion extends Question {
  /** Under which the client answers. */
  readonly key: string;
}

const missingCapability = -32021;

export function inputRequiredAnswer(idText: string, questions: readonly NamedQuestion[], requestState: string): string {
  const inputRequests = Object.fromEntries(questions.map(({ key, url, message }) => [key, { method: 'elicitation/create', params: { mode: 'url', message, url } }]));
  return resultResponse(idText, { resultType: 'input_required', inputRequests, requestState });
}

/** A complete result: nothing is needed from the client itself. */
export function modernTextAnswer(idText: string, questions: readonly Question[]): string {
  return textAnswer(idText, questions, { resultType: 'complete' });
}

/** @param links for the person, where the file allows a text */
export function missingCapabilityAnswer(idText: string, titles: readonly string[], links: readonly string[]): string {
  const where = links.length === 0 ? 'This client cannot be sent to the page for it.' : `Ask the user to open ${links.join(' and ')} and send the request again afterwards.`;
  return errorResponse(idText, {
    code: missingCapability,
    message: `This needs a credential that the user has not given yet: ${titles.join(', ')}. ${where}`,
    data: { requiredCapabilities: { elicitation: { url: {} } } },
  });
}
