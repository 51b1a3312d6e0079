/**
 * Puts a question: a fresh link for every attempt, with the words that tell the person which server asks,
 * for what and what for. The link is our own connect page, never a third party's.
 */
import { textIn, type Text } from '../config/text.ts';
import type { Principal } from '../identity/principal.ts';
import type { Question } from '../protocol/legacy-answers.ts';
import type { Interactions } from './interactions.ts';

/** What is missing, as far as words need it. */
export interface MissingCredential {
  readonly name: string;
  /** Of each credential that would do. */
  readonly titles: readonly Text[];
  readonly place: string | undefined;
  /** Scopes that are needed of a connected account. */
  readonly scopes?: readonly string[];
  /** An account is connected; nothing is typed. */
  readonly isAccount?: boolean;
}

export interface Asking {
  readonly principal: Principal;
  readonly upstream: { readonly name: string; readonly title: Text };
  /** What was called, read or used, by its name. */
  readonly target?: { readonly kind: keyof typeof purposes; readonly name: string };
  readonly clientName?: string;
  readonly sessionId?: string;
}

const purposes = { tool: 'run', resource: 'read', prompt: 'use' } as const;

export type Ask = (asking: Asking, missing: MissingCredential) => Promise<Question>;

/** @param connectUrl the page of a ticket */
export function createAsk(interactions: Interactions, connectUrl: (ticketId: string) => string): Ask {
  return async (asking, missing) => {
    const { principal, upstream, target, clientName, sessionId } = asking;
    const { ticketId, elicitationId } = await interactions.begin({
      subject: { issuer: principal.issuer, subject: principal.subject, place: missing.place, credential: missing.name },
      upstream: upstream.name,
      ...(target === undefined ? {} : { tool: target.name }),
      ...(clientName === undefined ? {} : { clientName }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(missing.scopes === undefined ? {} : { scopes: missing.scopes }),
      ...(principal.clientId === undefined ? {} : { clientId: principal.clientId }),
    });
    return { elicitationId, ticketId, url: connectUrl(ticketId), message: wording(upstream.title, missing, target) };
  };
}

function wording(server: Text, { titles, scopes = [], isAccount = false }: MissingCredential, target: Asking['target']): string {
  const purpose = target === undefined ? '' : ` to ${purposes[target.kind]} “${target.name}”`;
  const either = titles.map((title) => textIn(title, 'en')).join(' or ');
  const allowed = scopes.length === 0 ? '' : ` with permission for ${scopes.join(', ')}`;
  const [what, doing] = isAccount ? ['account', 'connect'] : ['credential', 'give'];
  return `${textIn(server, 'en')} needs your ${either} ${what}${allowed}${purpose}. Open the page to ${doing} it; neither the assistant nor this client sees it.`;
}
