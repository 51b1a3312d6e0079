/**
 * The connect page: shows the question to its owner, takes what she gives, stores it, and ends the
 * question for everyone who asked it. Everything here runs after all checks have passed.
 */
import { collectApiKey, type FieldProblem } from '../collect/api-key.ts';
import { textIn } from '../config/text.ts';
import type { Ticket } from '../elicitation/interactions.ts';
import type { AuditEvent } from '../operate/audit.ts';
import { csrfToken } from './checks.ts';
import { renderAlreadyDone, renderDeclined, renderDone, renderEntry, renderExpired, type EntryField, type Frame } from './views.ts';
import type { CheckedVisit, Page, Pages } from './visit.ts';

interface Redirect {
  readonly location: string;
}

export async function showQuestion(pages: Pages, visit: CheckedVisit): Promise<Page> {
  const { opened } = visit;
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (!isPrefetch(visit) && !opened.isVisited && (await pages.interactions.visit(opened.ticket))) record(pages, visit, 'opened');
  return entryPage(pages, visit, 200, {}, {});
}

export async function takeAnswer(pages: Pages, visit: CheckedVisit): Promise<Page | Redirect> {
  const { opened, form } = visit;
  if (form['action'] === 'renew' && opened.kind === 'expired') {
    record(pages, visit, 'renewed');
    return { location: pages.connectUrl(await pages.renew(opened.ticket)) };
  }
  if (opened.kind !== 'open') return showEnded(pages, visit, opened.kind);
  if (form['action'] === 'decline') {
    record(pages, visit, 'declined');
    return { status: 200, html: renderDeclined(frameOf(pages, visit), { client: opened.ticket.clientName }) };
  }
  return takeKey(pages, visit, opened.ticket);
}

async function takeKey(pages: Pages, visit: CheckedVisit, ticket: Ticket): Promise<Page> {
  const { credential } = visit.asked;
  const collected = collectApiKey(credential.config.fields, credential.headers, visit.form);
  record(pages, visit, 'submitted', collected.ok ? 'accepted' : 'refused');
  if (!collected.ok) return entryPage(pages, visit, 422, collected.error.fields, collected.error.problems);
  const { expiresAfter } = credential.config;
  const time = pages.now();
  await pages.vault.keep(
    { issuer: visit.principal.issuer, subject: visit.principal.subject, credential: credential.config.name, ...(credential.place === undefined ? {} : { upstream: credential.place }) },
    {
      fields: collected.value.fields,
      shape: credential.config.shape,
      destination: credential.destination,
      storedAt: time,
      lastUsedAt: time,
      ...(expiresAfter === undefined ? {} : { expiresAt: time + expiresAfter }),
    },
  );
  record(pages, visit, 'stored');
  await complete(pages, ticket);
  const continues = ticket.sessionId !== undefined && pages.notices.isListening(ticket.sessionId) ? 'by-itself' : 'say-continue';
  return { status: 200, html: renderDone(frameOf(pages, visit), { title: titleOf(pages, visit), client: ticket.clientName, continues }) };
}

/** The question is answered: every session that was given a link to it hears so. */
async function complete(pages: Pages, ticket: Ticket): Promise<void> {
  const asked = (await pages.interactions.finish(ticket)) ?? [];
  await Promise.all(asked.map((ref) => pages.notices.leave(ref.sessionId, ref.elicitationId)));
}

function entryPage(pages: Pages, visit: CheckedVisit, status: number, values: Readonly<Record<string, string>>, problems: Readonly<Record<string, FieldProblem>>): Page {
  const { asked, principal, opened } = visit;
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
    title: say(config.title),
    description: config.description === undefined ? undefined : say(config.description),
    help: config.help,
    purpose: opened.ticket.tool,
    storedFor: principal.name,
    destination,
    fields,
    keptForMs: config.expiresAfter,
    replaces: false,
  });
  return { status, html };
}

function showEnded(pages: Pages, visit: CheckedVisit, kind: 'done' | 'expired'): Page {
  const frame = frameOf(pages, visit);
  const title = titleOf(pages, visit);
  if (kind === 'done') return { status: 200, html: renderAlreadyDone(frame, { title }) };
  return { status: 410, html: renderExpired(frame, { ...formOf(pages, visit, frame), title, canRenew: true }) };
}

function formOf(pages: Pages, visit: CheckedVisit, frame: Frame) {
  return { action: `?lang=${encodeURIComponent(frame.language)}`, csrf: csrfToken(pages, visit) };
}

function frameOf(pages: Pages, visit: CheckedVisit): Frame {
  return pages.frame(visit.request, visit.principal.name);
}

function titleOf(pages: Pages, visit: CheckedVisit): string {
  return textIn(visit.asked.credential.config.title, frameOf(pages, visit).language);
}

/** A browser that loads a page in advance has shown it to nobody. */
function isPrefetch(visit: CheckedVisit): boolean {
  const { headers } = visit.request;
  return headers['sec-purpose'] !== undefined || headers['purpose'] === 'prefetch';
}

function record(pages: Pages, visit: CheckedVisit, event: AuditEvent, outcome?: string): void {
  const { ticket } = visit.opened;
  pages.audit.record(event, { principal: visit.principal, upstream: ticket.upstream, credential: ticket.subject.credential, tool: ticket.tool, clientName: ticket.clientName, outcome });
}
