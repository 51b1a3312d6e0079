/** One browser request on its way through the steps of `routes.ts`, and what those steps work with. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequiredCredential } from '../gateway/protected-upstream.ts';
import type { Text } from '../config/text.ts';
import type { Interactions, Opened, Ticket } from '../elicitation/interactions.ts';
import type { Notices } from '../elicitation/notices.ts';
import type { Result } from '../errors.ts';
import type { AddressGuard } from '../identity/addressed.ts';
import type { Principal } from '../identity/principal.ts';
import type { Audit } from '../operate/audit.ts';
import type { Log } from '../operate/log.ts';
import type { Clock } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import type { Vault } from '../vault/secrets.ts';
import type { Frame, ProblemReason } from './views.ts';

/** What a ticket asks for, as far as the file still knows it. */
export interface Asked {
  readonly upstream: { readonly name: string; readonly title: Text };
  readonly credential: RequiredCredential;
}

export interface Pages {
  readonly addressed: AddressGuard;
  readonly identify: (request: FastifyRequest) => Result<Principal, 'not-local'>;
  readonly find: (upstream: string, credential: string) => Asked | undefined;
  readonly interactions: Interactions;
  readonly notices: Notices;
  readonly vault: Vault;
  readonly ring: KeyRing;
  readonly namespace: string;
  readonly audit: Audit;
  readonly log: Log;
  readonly now: Clock;
  /** Counts one page view of an address, one submission of a person. @returns seconds to wait when there were too many */
  readonly countPage: (request: FastifyRequest) => Promise<number | undefined>;
  readonly countSubmission: (request: FastifyRequest, principal: Principal) => Promise<number | undefined>;
  readonly frame: (request: FastifyRequest, account: string | undefined) => Frame;
  readonly connectUrl: (ticketId: string) => string;
  /** A new question in place of one that has expired, for the same attempt. @returns the new ticket's id */
  readonly renew: (ticket: Ticket) => Promise<string>;
}

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly ticketId: string;
  principal: Principal | undefined;
  opened: Opened | undefined;
  asked: Asked | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.reply = reply;
    const { ticket } = request.params as { readonly ticket?: string };
    this.ticketId = ticket ?? '';
  }

  get form(): Readonly<Record<string, unknown>> {
    const { body } = this.request;
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }
}

/** A visit after all checks: who she is, and what her link leads to. */
export interface CheckedVisit {
  readonly request: FastifyRequest;
  readonly ticketId: string;
  readonly principal: Principal;
  readonly opened: Opened;
  readonly asked: Asked;
  readonly form: Readonly<Record<string, unknown>>;
}

export type PageProblem = { readonly reason: ProblemReason; readonly status: number; readonly retryAfterSeconds?: number };
