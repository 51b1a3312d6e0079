/**
 * A question for an account at a third party: the page before she leaves, her way there, and what is stored
 * when she is back. Nobody is sent anywhere before the third party was found and we are known there.
 */
import { digest, journeyMs } from '../collect/oauth/journeys.ts';
import type { Granted } from '../collect/oauth/granted.ts';
import type { Account } from '../collect/oauth/provider.ts';
import { textIn } from '../config/text.ts';
import { templatesIn } from '../gateway/injected-places.ts';
import type { FastifyReply } from 'fastify';
import { hasScopes, isRenewable, type Secret } from '../vault/secrets.ts';
import { renderAway, renderBack, renderPartly } from './oauth-views.ts';
import { complete, formOf, frameOf, hereAgain, keep, record, slotOf, titleOf } from './question.ts';
import { formActions } from './security-headers.ts';
import type { Frame } from './views.ts';
import type { CheckedVisit, Page, Pages, Redirect } from './visit.ts';

/** The page before she leaves. */
export async function awayPage(pages: Pages, visit: CheckedVisit, account: Account): Promise<Page> {
  const { asked, visitor, opened: { ticket } } = visit;
  const stored = await pages.vault.inspect(slotOf(visit));
  const introduced = await pages.accounts.introduce(account, alsoWanted(visit, stored));
  const frame = frameOf(pages, visit);
  if (!introduced.ok) return faultPage(visit, frame, introduced.error);
  const { origin, scopes } = introduced.value;
  const { description, shape } = account.config;
  const isNarrow = stored?.shape === shape && !hasScopes(stored, ticket.scopes ?? []);
  const html = renderAway(frame, {
    ...formOf(pages, visit, frame),
    server: textIn(asked.upstream.title, frame.language),
    title: titleOf(visit, frame),
    description: description === undefined ? undefined : textIn(description, frame.language),
    client: ticket.clientName,
    clientId: ticket.clientId,
    purpose: ticket.tool,
    storedFor: visitor.principal.name,
    destination: asked.credential.destination,
    provider: origin,
    scopes,
    before: stored === undefined ? undefined : stored.isRejected === true ? 'refused' : isNarrow ? 'narrow' : 'replaced',
  });
  return { status: 200, html, headers: formActions(origin) };
}

/** She goes to the third party, with a cookie by which this browser is known again. */
export async function leave(pages: Pages, visit: CheckedVisit, account: Account, reply: FastifyReply): Promise<Page | Redirect> {
  const { principal, session } = visit.visitor;
  const frame = frameOf(pages, visit);
  const stored = await pages.vault.inspect(slotOf(visit));
  const departure = await pages.accounts.depart(account, alsoWanted(visit, stored), {
    issuer: principal.issuer,
    subject: principal.subject,
    sessionDigest: digest(session),
    ticketId: visit.ticketId,
    credential: account.config.name,
    language: frame.language,
  });
  if (!departure.ok) return faultPage(visit, frame, departure.error);
  const { url, state, browser } = departure.value;
  record(pages, visit, 'left');
  void reply.setCookie(pages.cookies.journeyName(state), browser, { ...pages.cookies.options, maxAge: journeyMs / 1_000 });
  return { location: url };
}

/** What she brought back is stored, and the question is answered if it was enough. */
export async function storeAccount(pages: Pages, visit: CheckedVisit, account: Account, { fields, grant }: Granted): Promise<Page> {
  const { ticket } = visit.opened;
  const secret = { fields, grant };
  const lacking = templatesIn(visit.asked.credential).flatMap((template) => template.fields).find((name) => fields[name] === undefined);
  if (lacking !== undefined) {
    pages.log.warn({ credential: account.config.name, field: lacking }, 'an account was not connected: the file sends a field that the third party did not give');
    const frame = frameOf(pages, visit);
    return { status: 400, html: renderBack(frame, { reason: 'failed', title: titleOf(visit, frame), retryUrl: retryUrl(pages, visit, frame) }) };
  }
  const { endsAt } = grant;
  await keep(pages, visit, secret, isRenewable(secret) ? undefined : endsAt);
  record(pages, visit, 'stored');
  const missing = (ticket.scopes ?? []).filter((scope) => !grant.scopes.includes(scope));
  if (missing.length === 0) return complete(pages, visit, ticket);
  const frame = frameOf(pages, visit);
  return { status: 200, html: renderPartly(frame, { title: titleOf(visit, frame), missing, retryUrl: retryUrl(pages, visit, frame) }) };
}

export function retryUrl(pages: Pages, visit: CheckedVisit, frame: Frame): string {
  return pages.links.connect(visit.ticketId) + hereAgain(visit, frame);
}

/** What this call needs, and what she has granted before: a new grant takes the place of the old one. */
function alsoWanted({ opened: { ticket }, asked }: CheckedVisit, stored: Secret | undefined): readonly string[] {
  const before = stored?.shape === asked.credential.config.shape && stored.isRejected !== true ? (stored.grant?.scopes ?? []) : [];
  return [...(ticket.scopes ?? []), ...before];
}

function faultPage(visit: CheckedVisit, frame: Frame, reason: 'unreachable' | 'unfit'): Page {
  return { status: reason === 'unreachable' ? 503 : 500, html: renderBack(frame, { reason, title: titleOf(visit, frame), retryUrl: hereAgain(visit, frame) }) };
}
