/** A question for what a person types: the form that asks, and what happens to what she gave. */
import { collectApiKey, type FieldProblem } from '../collect/api-key.ts';
import { headersOf, type Verdict } from '../collect/verify.ts';
import type { ApiKeyCredential } from '../config/config.ts';
import { textIn } from '../config/text.ts';
import { complete, formOf, frameOf, keep, record, slotOf } from './question.ts';
import { trialOf, tryKey } from './try-key.ts';
import { renderEntry, type EntryField } from './views.ts';
import type { CheckedVisit, Page, Pages } from './visit.ts';

interface EntryState {
  readonly values?: Readonly<Record<string, string>>;
  readonly problems?: Readonly<Record<string, FieldProblem>>;
  /** How the trial went. */
  readonly verdict?: Verdict;
}

export async function keyPage(pages: Pages, visit: CheckedVisit, config: ApiKeyCredential, status = 200, { values = {}, problems = {}, verdict }: EntryState = {}): Promise<Page> {
  const { asked, visitor, opened } = visit;
  const stored = await pages.vault.inspect(slotOf(visit));
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
    destination: asked.credential.destination,
    fields,
    keptForMs: config.expiresAfter,
    replaces: stored !== undefined,
    refused: stored?.isRejected,
    expiredOn: stored?.expiresAt !== undefined && stored.expiresAt <= pages.now() ? stored.expiresAt : undefined,
    trial: trialOf(visit, frame.language, verdict),
  });
  return { status, html };
}

export async function takeKey(pages: Pages, visit: CheckedVisit, config: ApiKeyCredential): Promise<Page> {
  const { credential } = visit.asked;
  const collected = collectApiKey(config.fields, headersOf(credential), visit.form);
  record(pages, visit, 'submitted', collected.ok ? 'accepted' : 'refused');
  if (!collected.ok) return keyPage(pages, visit, config, 422, { values: collected.error.fields, problems: collected.error.problems });
  const tried = await tryKey(pages, visit, collected.value.fields);
  if (tried !== undefined) record(pages, visit, 'verified', tried.verdict);
  if (tried?.mayStore === false) return keyPage(pages, visit, config, tried.verdict === 'refused' ? 422 : 503, { values: collected.value.fields, verdict: tried.verdict });
  await keep(pages, visit, collected.value);
  record(pages, visit, 'stored');
  return complete(pages, visit, visit.opened.ticket);
}
