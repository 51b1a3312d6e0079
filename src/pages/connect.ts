/**
 * The connect page: shows the question to its owner, takes what she gives, stores it, and ends the
 * question for everyone who asked it. What another client of hers asks for and she has given already is
 * a question of consent. Everything here runs after all checks have passed.
 */
import type { FastifyReply } from 'fastify';
import { textIn } from '../config/text.ts';
import type { Ticket } from '../elicitation/interactions.ts';
import { mayServe } from '../vault/secrets.ts';
import { renderChoice } from './choice-view.ts';
import { awayPage, leave } from './connect-account.ts';
import { keyPage, takeKey } from './connect-key.ts';
import { renderConsent } from './person-views.ts';
import { complete, formOf, frameOf, hereAgain, record, slotOf, titleOf, usable } from './question.ts';
import { renderAlreadyDone, renderDeclined, renderExpired } from './views.ts';
import type { CheckedVisit, Page, Pages, Redirect } from './visit.ts';

export async function showQuestion(pages: Pages, visit: CheckedVisit): Promise<Page> {
  const { opened } = visit;
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (!isPrefetch(visit) && !opened.isVisited && (await pages.interactions.visit(opened.ticket))) record(pages, visit, 'opened');
  if (!visit.asked.isPicked) return choicePage(pages, visit);
  const stored = await usable(pages, visit);
  const { clientId } = opened.ticket;
  const { replace } = visit.request.query as { readonly replace?: unknown };
  if (stored !== undefined && clientId !== undefined && !mayServe(stored, clientId) && replace === undefined) return consentPage(pages, visit, clientId);
  return askPage(pages, visit);
}

export async function takeAnswer(pages: Pages, visit: CheckedVisit, reply: FastifyReply): Promise<Page | Redirect> {
  const { opened, form } = visit;
  if (form['action'] === 'renew' && opened.kind === 'expired') {
    record(pages, visit, 'renewed');
    return { location: `${pages.links.connect(await pages.renew(opened.ticket))}?lang=${frameOf(pages, visit).language}` };
  }
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (form['action'] === 'decline') {
    await pages.interactions.decline(visit.ticketId);
    record(pages, visit, 'declined');
    return { status: 200, html: renderDeclined(frameOf(pages, visit), { client: opened.ticket.clientName }) };
  }
  if (!visit.asked.isPicked) return choicePage(pages, visit);
  return form['action'] === 'agree' ? takeConsent(pages, visit, opened.ticket) : takeGiven(pages, visit, reply);
}

/** The page that asks, by the kind of credential. */
function askPage(pages: Pages, visit: CheckedVisit): Promise<Page> {
  const { config, upstreamUrl } = visit.asked.credential;
  return config.kind === 'apiKey' ? keyPage(pages, visit, config) : awayPage(pages, visit, { config, upstreamUrl });
}

/** What she gives, by the kind of credential. */
function takeGiven(pages: Pages, visit: CheckedVisit, reply: FastifyReply): Promise<Page | Redirect> {
  const { config, upstreamUrl } = visit.asked.credential;
  return config.kind === 'apiKey' ? takeKey(pages, visit, config) : leave(pages, visit, { config, upstreamUrl }, reply);
}

/** She lets one more client use what she stored: exactly what the page showed, or nothing. */
async function takeConsent(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const isThere = ticket.clientId !== undefined && (await usable(pages, visit)) !== undefined;
  const isAgreed = isThere && (await pages.vault.agree(slotOf(visit), ticket.clientId));
  if (!isAgreed) return askPage(pages, visit);
  record(pages, visit, 'consent');
  return complete(pages, visit, ticket);
}

function choicePage(pages: Pages, visit: CheckedVisit): Page {
  const { asked, opened } = visit;
  const frame = frameOf(pages, visit);
  const html = renderChoice(frame, {
    ...formOf(pages, visit, frame),
    server: textIn(asked.upstream.title, frame.language),
    purpose: opened.ticket.tool,
    options: asked.anyOf.map(({ config: { name, title, description } }) => ({
      title: textIn(title, frame.language),
      description: description === undefined ? undefined : textIn(description, frame.language),
      href: `?lang=${encodeURIComponent(frame.language)}&with=${encodeURIComponent(name)}`,
    })),
  });
  return { status: 200, html };
}

function consentPage(pages: Pages, visit: CheckedVisit, clientId: string): Page {
  const { asked, opened, visitor } = visit;
  const frame = frameOf(pages, visit);
  const html = renderConsent(frame, {
    ...formOf(pages, visit, frame),
    server: textIn(asked.upstream.title, frame.language),
    title: titleOf(visit, frame),
    ...(opened.ticket.clientName === undefined ? {} : { client: opened.ticket.clientName }),
    clientId,
    storedFor: visitor.principal.name,
    destination: asked.credential.destination,
    ...(opened.ticket.tool === undefined ? {} : { purpose: opened.ticket.tool }),
    replaceUrl: `${hereAgain(visit, frame)}&replace=1`,
  });
  return { status: 200, html };
}

function showEnded(pages: Pages, visit: CheckedVisit, kind: 'done' | 'expired'): Page {
  const frame = frameOf(pages, visit);
  const title = titleOf(visit, frame);
  if (kind === 'done') return { status: 200, html: renderAlreadyDone(frame, { title }) };
  return { status: 410, html: renderExpired(frame, { ...formOf(pages, visit, frame), title, canRenew: true }) };
}

/** A browser that loads a page in advance has shown it to nobody. */
function isPrefetch(visit: CheckedVisit): boolean {
  const { headers } = visit.request;
  return headers['sec-purpose'] !== undefined || headers['purpose'] === 'prefetch';
}
