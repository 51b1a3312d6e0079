/** What the 2026-07-28 era and its elicitations demand of a proxy, each with the test that shows it. Not yet the whole contract: transports and login have no rows. */
export interface Requirement {
  readonly id: string;
  readonly sentence: string;
  /** Where the specification speaks of it, or "ours"; the sentences are our summary, not quotations. */
  readonly section: string;
  readonly file: string;
  /** How the title of the test begins. */
  readonly title: string;
}

const modern = 'gateway/modern.test.ts';
const ladder = 'gateway/ladder.test.ts';
const hold = 'gateway/hold.test.ts';
const state = 'attacks/request-state.test.ts';

export const requirements: readonly Requirement[] = [
  { id: 'W-headers', sentence: 'Headers that differ from the body MUST be refused with 400 -32020.', section: 'basic/transports', file: modern, title: 'headers that are missing, malformed' },
  { id: 'W-meta', sentence: 'A request without a field that every one carries MUST be refused with -32602.', section: 'basic', file: modern, title: 'a request without its version' },
  { id: 'W-version', sentence: 'An unknown version MUST be answered with -32022 and the supported ones.', section: 'versioning', file: modern, title: 'an unknown version is refused' },
  { id: 'W-discover', sentence: 'Only versions that both sides know are listed.', section: 'ours', file: modern, title: 'what an upstream lists' },
  { id: 'W-input', sentence: 'A question to a modern client MUST be an input_required result.', section: 'basic/patterns/mrtr', file: modern, title: 'a modern client is asked' },
  { id: 'W-ask-again', sentence: 'A missing answer SHOULD be asked for again.', section: 'basic/patterns/mrtr', file: modern, title: 'a retry that leaves the answer out' },
  { id: 'W-cancel', sentence: 'A closed response stream MUST be taken as a cancellation.', section: 'basic/transports', file: modern, title: 'a modern client that hangs up' },
  { id: 'W-get', sentence: 'GET and DELETE MUST be answered 405.', section: 'basic/transports', file: modern, title: 'the session header is ignored' },
  { id: 'W-undeclared', sentence: 'A mode that was not declared MUST NOT be sent.', section: 'client/elicitation', file: ladder, title: 'only a declared `elicitation.url`' },
  { id: 'W-required', sentence: 'A request that needs an undeclared capability MUST be refused with -32021.', section: 'basic', file: modern, title: 'a client without URL mode gets the text' },
  { id: 'W-state', sentence: 'A state MUST be checked as input of an attacker.', section: 'basic/patterns/mrtr', file: state, title: 'on the wire an edited or foreign state' },
  { id: 'W-state-bound', sentence: 'A state SHOULD be bound to its person and request.', section: 'basic/patterns/mrtr', file: state, title: 'a state opens for its own request only' },
  { id: 'W-state-expiry', sentence: 'A state SHOULD expire.', section: 'basic/patterns/mrtr', file: state, title: 'a state lives for fifteen minutes' },
  { id: 'W-decline', sentence: 'Decline and cancel end the call.', section: 'client/elicitation', file: hold, title: 'decline and cancel' },
  { id: 'W-own-session', sentence: 'An answer counts from the session that was asked.', section: 'ours', file: hold, title: 'what another session answers' },
];
