/** How the person in the browser is known, and what is to be done when she is not. */
import type { FastifyRequest } from 'fastify';
import type { Result } from '../errors.ts';
import type { Principal } from './principal.ts';

export interface Visitor {
  readonly principal: Principal;
  /** What a form's token is bound to beside the person: her browser session, where there is one. */
  readonly session: string;
}

/** `login`: she can log in here; `not-local`, `not-known`: she cannot; `unavailable`: it cannot be known now. */
export type VisitorFault = 'login' | 'not-local' | 'not-known' | 'unavailable';

export type IdentifyVisitor = (request: FastifyRequest) => Promise<Result<Visitor, VisitorFault>>;
