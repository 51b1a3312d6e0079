/** One browser request on its way through the steps of `routes.ts`, and what those steps work with. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Accounts } from '../collect/oauth/accounts.ts';
import type { Verdict } from '../collect/verify.ts';
import type { Text } from '../config/text.ts';
import type { Interactions, Opened, Ticket } from '../elicitation/interactions.ts';
import type { Notices } from '../elicitation/notices.ts';
import type { RequiredCredential } from '../gateway/protected-upstream.ts';
import type { AddressGuard } from '../identity/addressed.ts';
import type { CookieRules } from '../identity/cookies.ts';
import type { Principal } from '../identity/principal.ts';
import type { IdentifyVisitor, Visitor } from '../identity/visitor.ts';
import type { Audit } from '../operate/audit.ts';
import type { Log } from '../operate/log.ts';
import type { Clock } from '../stores/store.ts';
import type { KeyRing } from '../vault/key-ring.ts';
import type { Vault } from '../vault/secrets.ts';
import type { Frame, ProblemReason } from './views.ts';

/** What a ticket asks for, as far as the file still knows it. */
export interface Asked {
  readonly upstream: { readonly name: string; readonly title: Text };
  /** What is given on the page: the one credential, or the one that she picked. */
  readonly credential: RequiredCredential;
  /** Any one of these answers the question. */
  readonly anyOf: readonly RequiredCredential[];
  /** Nothing is left to pick. */
  readonly isPicked: boolean;
}

/** A question that may be open, as far as finishing it needs it. */
export interface OpenQuestion {
  readonly place: string | undefined;
  readonly name: string;
}

export interface Pages {
  readonly addressed: AddressGuard;
  readonly identify: IdentifyVisitor;
  /** Everything that can be connected. */
  readonly all: readonly Asked[];
  /** @param question a credential's name, or the names of a choice; @param picked the one of them that she wants to give */
  readonly find: (upstream: string, question: string, picked?: string) => Asked | undefined;
  /** The questions that this credential answers, at any upstream. */
  readonly questionsFor: (credential: RequiredCredential) => readonly OpenQuestion[];
  readonly interactions: Interactions;
  readonly notices: Notices;
  readonly vault: Vault;
  /** Tries what was given, before it is stored. */
  readonly verify: (asked: Asked, fields: Readonly<Record<string, string>>) => Promise<Verdict>;
  readonly ring: KeyRing;
  readonly namespace: string;
  readonly audit: Audit;
  readonly log: Log;
  readonly now: Clock;
  /** Counts one page view of an address, one submission of a person. @returns seconds to wait when there were too many */
  readonly accounts: Accounts;
  /** Names and attributes of the cookies of journeys to third parties. */
  readonly cookies: CookieRules;
  readonly countPage: (request: FastifyRequest) => Promise<number | undefined>;
  readonly countSubmission: (request: FastifyRequest, principal: Principal) => Promise<number | undefined>;
  /** @param visitor who is there; @param here the page for after a change of account: `account` or `connect/…`; @param language what she chose before, on a page that has no switch */
  readonly frame: (request: FastifyRequest, visitor?: Visitor, here?: string, language?: string) => Frame;
  readonly links: PageLinks;
  /** A new question in place of one that has expired, for the same attempt. @returns the new ticket's id */
  readonly renew: (ticket: Ticket) => Promise<string>;
}

/** Addresses of our own pages, as browsers reach them. */
export interface PageLinks {
  connect(ticketId: string): string;
  readonly account: string;
  /** Where people log in, if they do it here. @param here as for `frame` */
  readonly login: ((here: string, isSwitch?: boolean) => string) | undefined;
  /** Where the form that logs out goes, or the proxy's own address for it. */
  readonly signOut: { readonly action: string } | { readonly href: string } | undefined;
}

export interface Page {
  readonly status: number;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Redirect {
  readonly location: string;
}

export class Visit {
  readonly request: FastifyRequest;
  readonly ticketId: string;
  /** `account` or `connect/…`. */
  readonly here: string;
  visitor: Visitor | undefined;
  opened: Opened | undefined;
  asked: Asked | undefined;

  constructor(request: FastifyRequest) {
    this.request = request;
    const { ticket } = request.params as { readonly ticket?: string };
    this.ticketId = ticket ?? '';
    this.here = ticket === undefined ? 'account' : `connect/${ticket}`;
  }

  get form(): Readonly<Record<string, unknown>> {
    const { body } = this.request;
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }
}

/** What a page does, after its checks. */
export type Act = (visit: Visit, reply: FastifyReply) => Promise<Page | Redirect | PageProblem>;

/** A visit to a link after all checks: who she is, and what her link leads to. */
export interface CheckedVisit {
  readonly request: FastifyRequest;
  readonly ticketId: string;
  readonly visitor: Visitor;
  readonly opened: Opened;
  readonly asked: Asked;
  readonly form: Readonly<Record<string, unknown>>;
  /** What she chose before, where the page has no switch. */
  readonly language?: string;
}

export type PageProblem = { readonly reason: ProblemReason | 'wrong-person' | 'signed-out'; readonly status: number; readonly retryAfterSeconds?: number; /** Who is there and where she was going, where the visit itself does not know. */ readonly visitor?: Visitor; readonly here?: string };
