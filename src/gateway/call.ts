/**
 * One MCP request on its way through the steps of `routes.ts`. A step reads what earlier steps found and
 * adds what it found itself; reading something that no step has set is a bug and throws.
 */
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../identity/principal.ts';
import { eraOfMessage, type Era } from '../protocol/era.ts';
import { type RpcMessage } from '../protocol/json-rpc.ts';
import { clientInMeta, type ClientFacts } from '../protocol/modern-request.ts';
import { messageEvent } from '../protocol/sse.ts';
import type { Answer } from './answer.ts';
import { refuseBare, refuseRequest, sendAnswer } from './answer.ts';
import type { ClientStream } from './client-stream.ts';
import type { Reason } from '../errors.ts';
import type { Decision, HeldCredential } from './decide.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProtectedUpstream, Requirement } from './protected-upstream.ts';
import type { Round } from './round.ts';
import type { PersonScrubber } from './scrubbers.ts';
import type { Session } from './sessions.ts';
import { targetsOf, toolOf, type Target } from './requested.ts';

const silentClient: ClientFacts = { takesUrls: false, name: undefined };

export class Call {
  readonly request: FastifyRequest;
  readonly raw: IncomingMessage;
  readonly reply: ServerResponse;
  readonly endpoint: Endpoint;
  readonly upstream: ProtectedUpstream;
  /** Nothing before `takeBody`, and nothing where there is none. */
  body: Buffer = Buffer.alloc(0);
  /** Headers of the client that go upstream, without the session's. */
  forwarded: string[] = [];
  session: Session | undefined;
  /** The store could not say whether the session was ended: what a rule protects must not go on. */
  isSessionUncertain = false;
  required: readonly Requirement[] = [];
  /** What goes along: of each requirement one credential that the person has. */
  held: readonly HeldCredential[] = [];
  decision: Decision = { kind: 'pass' };
  /** It was sent once more, after a renewal. */
  isResent = false;
  scrubber: PersonScrubber | undefined;
  /** The round of questions that this request answers; modern requests only. */
  round: (Round & { readonly isAccepted: boolean }) | undefined;
  /** The answer has begun as a stream of ours, while the call was held. */
  stream: ClientStream | undefined;
  #client: ClientFacts | undefined;
  #era: Era = 'legacy';
  #principal: Principal | undefined;
  #message: RpcMessage | undefined;

  constructor(request: FastifyRequest, reply: ServerResponse, endpoint: Endpoint) {
    this.request = request;
    this.raw = request.raw;
    this.reply = reply;
    this.endpoint = endpoint;
    this.upstream = endpoint.upstream;
  }

  get principal(): Principal {
    return found(this.#principal, 'identify');
  }
  set principal(principal: Principal) {
    this.#principal = principal;
  }

  get message(): RpcMessage {
    return found(this.#message, 'parse');
  }
  set message(message: RpcMessage) {
    this.#message = message;
    this.#era = eraOfMessage(message);
  }

  /** Legacy until the message is known. */
  get era(): Era {
    return this.#era;
  }

  /** What the client says about itself: legacy ones once, in their session, modern ones in every request. */
  get client(): ClientFacts {
    if (this.#era === 'modern') return (this.#client ??= clientInMeta(this.message));
    const { session } = this;
    return session === undefined ? silentClient : { takesUrls: session.takesUrls, name: session.clientName };
  }

  /** The id to answer to, as the client wrote it. */
  get idText(): string | undefined {
    return this.#message?.kind === 'request' ? this.#message.idText : undefined;
  }

  /** The tool that the message calls, if it calls one. */
  get tool(): string | undefined {
    return this.#message === undefined ? undefined : toolOf(this.#message);
  }

  /** What the message is about, if rules can protect it. */
  get target(): Target | undefined {
    return this.#message === undefined ? undefined : targetsOf(this.#message)[0];
  }

  refuse(reason: Reason): Answer {
    return this.idText === undefined ? refuseBare(reason) : refuseRequest(reason, this.idText, this.#era);
  }

  /** Writes an answer of ours: as an event where a stream has begun. */
  send(answer: Answer): void {
    const { stream } = this;
    if (stream === undefined) {
      sendAnswer(this.reply, answer);
      return;
    }
    // Line breaks of JSON stand between its parts only, never within one.
    if (answer.body !== undefined) stream.own(messageEvent(answer.body.toString().replace(/[\r\n]+/g, ' ')));
    stream.end();
  }
}

/** One named step: an answer of ours ends the list; `'taken'` says that the step sees to the answer itself. */
export type Step = (call: Call) => StepResult | Promise<StepResult>;
export type StepResult = Answer | 'taken' | undefined;

function found<T>(value: T | undefined, step: string): T {
  if (value === undefined) throw new Error(`the step "${step}" has not run`);
  return value;
}
