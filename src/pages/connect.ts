/**
 * The connect page: shows the question to its owner, takes what she gives, stores it, and ends the
 * question for everyone who asked it. What another client of hers asks for and she has given already is
 * a question of consent. Everything here runs after all checks have passed.
 */
import { collectApiKey, type FieldProblem } from '../collect/api-key.ts';
import { headersOf, type Verdict } from '../collect/verify.ts';
import { textIn } from '../config/text.ts';
import type { Ticket } from '../elicitation/interactions.ts';
import { secretSlot } from '../gateway/protected-upstream.ts';
import type { AuditEvent } from '../operate/audit.ts';
import { mayServe, type Secret } from '../vault/secrets.ts';
import { csrfToken } from './csrf.ts';
import { renderConsent } from './person-views.ts';
import { renderAlreadyDone, renderDeclined, renderDone, renderEntry, renderExpired, type EntryField, type Frame } from './views.ts';
import { trialOf, tryKey } from './try-key.ts';
import type { CheckedVisit, Page, Pages, Redirect } from './visit.ts';

export async function showQuestion(pages: Pages, visit: CheckedVisit): Promise<Page> {
  const { opened } = visit;
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (!isPrefetch(visit) && !opened.isVisited && (await pages.interactions.visit(opened.ticket))) record(pages, visit, 'opened');
  const stored = await usable(pages, visit);
  const { clientId } = opened.ticket;
  const { replace } = visit.request.query as { readonly replace?: unknown };
  if (stored !== undefined && clientId !== undefined && !mayServe(stored, clientId) && replace === undefined) return consentPage(pages, visit, clientId);
  return entryPage(pages, visit, 200);
}

export async function takeAnswer(pages: Pages, visit: CheckedVisit): Promise<Page | Redirect> {
  const { opened, form } = visit;
  if (form['action'] === 'renew' && opened.kind === 'expired') {
    record(pages, visit, 'renewed');
    return { location: `${pages.links.connect(await pages.renew(opened.ticket))}?lang=${frameOf(pages, visit).language}` };
  }
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (form['action'] === 'decline') {
    record(pages, visit, 'declined');
    return { status: 200, html: renderDeclined(frameOf(pages, visit), { client: opened.ticket.clientName }) };
  }
  return form['action'] === 'agree' ? takeConsent(pages, visit, opened.ticket) : takeKey(pages, visit, opened.ticket);
}

async function takeKey(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const { credential } = visit.asked;
  const collected = collectApiKey(credential.config.fields, headersOf(credential), visit.form);
  record(pages, visit, 'submitted', collected.ok ? 'accepted' : 'refused');
  if (!collected.ok) return entryPage(pages, visit, 422, { values: collected.error.fields, problems: collected.error.problems });
  const tried = await tryKey(pages, visit, collected.value.fields);
  if (tried !== undefined) record(pages, visit, 'verified', tried.verdict);
  if (tried?.mayStore === false) return entryPage(pages, visit, tried.verdict === 'refused' ? 422 : 503, { values: collected.value.fields, verdict: tried.verdict });
  const slot = secretSlot(visit.visitor.principal, credential);
  const { expiresAfter } = credential.config;
  const time = pages.now();
  // Clients that she allowed to use the old one may use the new one.
  const old = await pages.vault.inspect(slot);
  await pages.vault.keep(slot, {
    fields: collected.value.fields,
    shape: credential.config.shape,
    destination: credential.destination,
    storedAt: time,
    lastUsedAt: time,
    clients: [...new Set([...(old?.clients ?? []), ...(ticket.clientId === undefined ? [] : [ticket.clientId])])],
    ...(old?.rejectedAt === undefined ? {} : { rejectedAt: old.rejectedAt }),
    ...(expiresAfter === undefined ? {} : { expiresAt: time + expiresAfter }),
  });
  record(pages, visit, 'stored');
  return complete(pages, visit, ticket);
}

/** She lets one more client use what she stored: exactly what the page showed, or nothing. */
async function takeConsent(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const isThere = ticket.clientId !== undefined && (await usable(pages, visit)) !== undefined;
  const isAgreed = isThere && (await pages.vault.agree(secretSlot(visit.visitor.principal, visit.asked.credential), ticket.clientId));
  if (!isAgreed) return entryPage(pages, visit, 200);
  record(pages, visit, 'consent');
  return complete(pages, visit, ticket);
}

/** The question is answered: every session that was given a link to it hears so. */
async function complete(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const asked = (await pages.interactions.finish(ticket)) ?? [];
  await Promise.all(asked.map((ref) => pages.notices.leave(ref.sessionId, ref.elicitationId)));
  const continues = ticket.sessionId !== undefined && pages.notices.isListening(ticket.sessionId) ? 'by-itself' : 'say-continue';
  const frame = frameOf(pages, visit);
  return { status: 200, html: renderDone(frame, { title: titleOf(visit, frame), client: ticket.clientName, continues }) };
}

/** What is stored and could be used now, by clients that she agreed to. */
function usable(pages: Pages, visit: CheckedVisit): Promise<Secret | undefined> {
  const { credential } = visit.asked;
  return pages.vault.find(secretSlot(visit.visitor.principal, credential), credential.config.shape, credential.destination);
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
    replaceUrl: `?lang=${encodeURIComponent(frame.language)}&replace=1`,
  });
  return { status: 200, html };
}

interface EntryState {
  readonly values?: Readonly<Record<string, string>>;
  readonly problems?: Readonly<Record<string, FieldProblem>>;
  /** How the trial went. */
  readonly verdict?: Verdict;
}

async function entryPage(pages: Pages, visit: CheckedVisit, status: number, { values = {}, problems = {}, verdict }: EntryState = {}): Promise<Page> {
  const { asked, visitor, opened } = visit;
  const stored = await pages.vault.inspect(secretSlot(visitor.principal, asked.credential));
  const { config, destination } = asked.credential;
  const frame = frameOf(pages, visit);
  const say = (text: Readonly<Record<string, string>>): string => textIn(text, frame.language);
  const fields = config.fields.map((field): EntryField => ({
    name: field.name,
    label: say(field.label),
    hint: field.hint === undefined ? undefined : say(field.hint),
    secret: field.secret,
    multiline: field.multiline,
    value: field.secret ? undefined : values[field.name],
    problem: problems[field.name],
  }));
  const html = renderEntry(frame, {
    ...formOf(pages, visit, frame),
    server: say(asked.upstream.title),
    client: opened.ticket.clientName,
    clientId: opened.ticket.clientId,
    title: say(config.title),
    description: config.description === undefined ? undefined : say(config.description),
    help: config.help,
    purpose: opened.ticket.tool,
    storedFor: visitor.principal.name,
    destination,
    fields,
    keptForMs: config.expiresAfter,
    replaces: stored !== undefined,
    refused: stored?.isRejected,
    trial: trialOf(visit, frame.language, verdict),
  });
  return { status, html };
}

function showEnded(pages: Pages, visit: CheckedVisit, kind: 'done' | 'expired'): Page {
  const frame = frameOf(pages, visit);
  const title = titleOf(visit, frame);
  if (kind === 'done') return { status: 200, html: renderAlreadyDone(frame, { title }) };
  return { status: 410, html: renderExpired(frame, { ...formOf(pages, visit, frame), title, canRenew: true }) };
}

function formOf(pages: Pages, visit: CheckedVisit, frame: Frame) {
  return { action: `?lang=${encodeURIComponent(frame.language)}`, csrf: csrfToken(pages, visit.visitor, visit.ticketId) };
}

function frameOf(pages: Pages, visit: CheckedVisit): Frame {
  return pages.frame(visit.request, visit.visitor, `connect/${visit.ticketId}`);
}

function titleOf(visit: CheckedVisit, { language }: Frame): string {
  return textIn(visit.asked.credential.config.title, language);
}

/** A browser that loads a page in advance has shown it to nobody. */
function isPrefetch(visit: CheckedVisit): boolean {
  const { headers } = visit.request;
  return headers['sec-purpose'] !== undefined || headers['purpose'] === 'prefetch';
}

function record(pages: Pages, visit: CheckedVisit, event: AuditEvent, outcome?: string): void {
  const { ticket } = visit.opened;
  const { issuer, subject } = visit.visitor.principal;
  const principal = { issuer, subject, ...(ticket.clientId === undefined ? {} : { clientId: ticket.clientId }) };
  pages.audit.record(event, { principal, upstream: ticket.upstream, credential: ticket.subject.credential, tool: ticket.tool, clientName: ticket.clientName, outcome });
}
