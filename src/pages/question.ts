/**
 * What every page of one question shares, whatever its kind of credential: its words, its form, its audit
 * lines, and its end.
 */
import { textIn } from '../config/text.ts';
import type { Ticket } from '../elicitation/interactions.ts';
import { secretSlot } from '../gateway/protected-upstream.ts';
import type { AuditEvent } from '../operate/audit.ts';
import type { Secret, SecretSlot } from '../vault/secrets.ts';
import { csrfToken } from './csrf.ts';
import { renderDone, type Form, type Frame } from './views.ts';
import type { CheckedVisit, Page, Pages } from './visit.ts';

export function formOf(pages: Pages, visit: CheckedVisit, frame: Frame): Form {
  return { action: hereAgain(visit, frame), csrf: csrfToken(pages, visit.visitor, visit.ticketId) };
}

/** The same page, in the language and with what was picked. */
export function hereAgain({ asked: { anyOf, isPicked, credential } }: CheckedVisit, { language }: Frame): string {
  const picked = isPicked && anyOf.length > 1 ? `&with=${encodeURIComponent(credential.config.name)}` : '';
  return `?lang=${encodeURIComponent(language)}${picked}`;
}

export function frameOf(pages: Pages, visit: CheckedVisit): Frame {
  return pages.frame(visit.request, visit.visitor, `connect/${visit.ticketId}`, visit.language);
}

export function titleOf(visit: CheckedVisit, { language }: Frame): string {
  const { isPicked, anyOf, credential } = visit.asked;
  return (isPicked ? [credential] : anyOf).map(({ config }) => textIn(config.title, language)).join(' / ');
}

/** Where her secret for this question is kept. */
export function slotOf({ visitor, asked }: CheckedVisit): SecretSlot {
  return secretSlot(visitor.principal, asked.credential);
}

/** What is stored and could be used now, by clients that she agreed to. */
export function usable(pages: Pages, visit: CheckedVisit): Promise<Secret | undefined> {
  const { credential } = visit.asked;
  return pages.vault.find(slotOf(visit), credential.config.shape, credential.destination);
}

/**
 * Stores what she gave in place of what stood there; clients that she allowed to use the old one may use the new one.
 * @param endsAt when it ends by itself, in milliseconds since the epoch
 */
export async function keep(pages: Pages, visit: CheckedVisit, given: Pick<Secret, 'fields' | 'grant'>, endsAt = Infinity): Promise<void> {
  const { opened: { ticket }, asked: { credential } } = visit;
  const slot = slotOf(visit);
  const { expiresAfter = Infinity, shape } = credential.config;
  const time = pages.now();
  const old = await pages.vault.inspect(slot);
  const expiresAt = Math.min(time + expiresAfter, endsAt);
  await pages.vault.keep(slot, {
    ...given,
    shape,
    destination: credential.destination,
    storedAt: time,
    lastUsedAt: time,
    clients: [...new Set([...(old?.clients ?? []), ...(ticket.clientId === undefined ? [] : [ticket.clientId])])],
    ...(old?.rejectedAt === undefined ? {} : { rejectedAt: old.rejectedAt }),
    ...(expiresAt === Infinity ? {} : { expiresAt }),
  });
}

/** The question is answered, and so is every other that this credential answers: each session that was given a link hears so. */
export async function complete(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const { issuer, subject, credential: own } = ticket.subject;
  const others = pages.questionsFor(visit.asked.credential).filter(({ name }) => name !== own);
  const finished = await Promise.all([pages.interactions.finish(ticket), ...others.map(({ place, name }) => pages.interactions.settle({ issuer, subject, place, credential: name }))]);
  const asked = finished.flatMap((refs) => refs ?? []);
  await Promise.all(asked.map((ref) => pages.notices.leave(ref.sessionId, ref.elicitationId)));
  const continues = ticket.sessionId !== undefined && pages.notices.isListening(ticket.sessionId) ? 'by-itself' : 'say-continue';
  const frame = frameOf(pages, visit);
  return { status: 200, html: renderDone(frame, { title: titleOf(visit, frame), client: ticket.clientName, continues }) };
}

export function record(pages: Pages, visit: CheckedVisit, event: AuditEvent, outcome?: string): void {
  const { ticket } = visit.opened;
  const { isPicked, credential } = visit.asked;
  const { issuer, subject } = visit.visitor.principal;
  const principal = { issuer, subject, ...(ticket.clientId === undefined ? {} : { clientId: ticket.clientId }) };
  pages.audit.record(event, { principal, upstream: ticket.upstream, credential: isPicked ? credential.config.name : ticket.subject.credential, tool: ticket.tool, clientName: ticket.clientName, outcome });
}
