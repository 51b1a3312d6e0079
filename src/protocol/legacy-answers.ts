/**
 * How the question reaches a client of the legacy era (2024-11-05 to 2025-11-25): the error -32042 with
 * one URL for each missing credential (2025-11-25, client/elicitation, "URL elicitation required"), or a
 * text for clients that cannot open URLs by themselves.
 */
import { refusals } from '../errors.ts';
import { errorResponse, resultResponse, type JsonObject } from './json-rpc.ts';

/** One missing credential, as it is put to the person. */
export interface Question {
  readonly elicitationId: string;
  readonly ticketId: string;
  readonly url: string;
  /** For the person: which server asks, for what, what for. */
  readonly message: string;
}

const urlElicitationRequired = -32042;

export function urlErrorAnswer(idText: string, questions: readonly Question[]): string {
  return errorResponse(idText, {
    code: urlElicitationRequired,
    message: 'The user must provide something on a web page before this can run. Ask the user to open the link; retry the same call afterwards.',
    data: { elicitations: questions.map((question) => ({ mode: 'url', elicitationId: question.elicitationId, url: question.url, message: question.message })) },
  });
}

/** A tool result marked as an error, so that strict clients do not hold it against the tool's output schema. */
export function textAnswer(idText: string, questions: readonly Question[], more: JsonObject = {}): string {
  const text = `${asText(questions)} When the user says it is done, call the tool again with the same arguments.`;
  return resultResponse(idText, { ...more, content: [{ type: 'text', text }], isError: true });
}

/** The person said no: the call ends, and nothing is held against a later one. */
export function declinedToolAnswer(idText: string, more: JsonObject = {}): string {
  const text = 'The user declined to provide what this tool needs, so it was not run. Do not try again by yourself; when the user wants it, call the tool again with the same arguments and a new link is made.';
  return resultResponse(idText, { ...more, content: [{ type: 'text', text }], isError: true });
}

/** A request of ours on the call's own stream. */
export function urlRequest(requestId: string, { elicitationId, url, message }: Question): string {
  return JSON.stringify({ jsonrpc: '2.0', id: requestId, method: 'elicitation/create', params: { mode: 'url', elicitationId, url, message } });
}

/** The same for what has no result that could say so: resources, prompts, completions. */
export function textErrorAnswer(idText: string, questions: readonly Question[]): string {
  const { code } = refusals['credential-required'];
  return errorResponse(idText, { code, message: `${asText(questions)} When the user says it is done, send the same request again.` });
}

function asText(questions: readonly Question[]): string {
  const asked = questions.map((question) => `${question.message}\n${question.url}`).join('\n\n');
  return `${asked}\n\nShow the user the link as it is. Never ask for the key in this conversation.`;
}

export function refusalAnswer(idText: string, titles: readonly string[]): string {
  const { code } = refusals['credential-required'];
  return errorResponse(idText, { code, message: `This needs a credential that the user has not given yet: ${titles.join(', ')}. This client cannot be sent to the page for it.` });
}
