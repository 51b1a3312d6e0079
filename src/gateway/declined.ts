/** The end of a call whose person said no: nothing is stored against her, and the next call asks again. */
import { declinedToolAnswer } from '../protocol/legacy-answers.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import type { Gateway } from './gateway.ts';
import { targetFacts } from './requested.ts';

/** @param asked names of the questions that were put */
export function declinedAnswer(gateway: Gateway, call: Call, asked: readonly string[], idText: string): Answer {
  const { principal, upstream, tool, target, client, era } = call;
  for (const credential of asked) gateway.audit.record('declined', { principal, upstream: upstream.config.name, credential, ...targetFacts(target), clientName: client.name });
  if (tool === undefined) return call.refuse('declined');
  return { status: 200, body: declinedToolAnswer(idText, era === 'modern' ? { resultType: 'complete' } : {}) };
}
