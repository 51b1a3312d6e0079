/**
 * One MCP request on its way through the steps of `routes.ts`. A step reads what earlier steps found and
 * adds what it found itself; reading something that no step has set is a bug and throws.
 */
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../identity/principal.ts';
import type { RpcMessage } from '../protocol/json-rpc.ts';
import type { Answer } from './answer.ts';
import { refuseBare, refuseRequest } from './answer.ts';
import type { Reason } from '../errors.ts';
import type { Decision, HeldCredential } from './decide.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProtectedUpstream, Requirement } from './protected-upstream.ts';
import type { PersonScrubber } from './scrubbers.ts';
import type { Session } from './sessions.ts';
import { targetsOf, toolOf, type Target } from './requested.ts';

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
    return this.idText === undefined ? refuseBare(reason) : refuseRequest(reason, this.idText);
  }
}

/** One named step: an answer of ours ends the list; `'taken'` says that the step sees to the answer itself. */
export type Step = (call: Call) => StepResult | Promise<StepResult>;
export type StepResult = Answer | 'taken' | undefined;

function found<T>(value: T | undefined, step: string): T {
  if (value === undefined) throw new Error(`the step "${step}" has not run`);
  return value;
}
