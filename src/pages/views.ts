/**
 * What people see in the browser: plain functions, a view model in and a whole HTML document out.
 * They promise that every text from outside is escaped, that a page needs no script, no inline style
 * and nothing from another origin, and that it names the server, the asking client, the person and the
 * destination before a secret is given (MCP 2025-11-25, client/elicitation, URL mode, "Safe URL
 * Handling"; a client's name is shown as its own claim). They refuse to know anything else: no
 * request, no store, no check of what was entered.
 */
import { favicon, icon, mark } from './assets.ts';
import type { IconName } from './assets.ts';
import { dayIn, durationIn } from './duration.ts';
import { plainLine, shortName } from './plain-name.ts';
import { documentPage, entryBody, messageBody } from './templates.ts';
import type { EntryModel, FactsModel, FieldModel, LinkModel, MessageModel } from './templates.ts';
import { wordsIn } from './words.ts';
import type { Words } from './words/en.ts';

/** What surrounds every page. */
export interface Frame {
  /** A code from `chooseLanguage`. */
  readonly language: string;
  readonly siteName: string;
  readonly logoUrl?: string | undefined;
  /** A `mailto:` or `https:` address. */
  readonly support?: string | undefined;
  readonly links: readonly { readonly title: string; readonly url: string }[];
  /** The switch, shown when there is more than one. */
  readonly languages: readonly { readonly code: string; readonly name: string; readonly href: string }[];
  /** Who is logged in; absent while nobody is known. */
  readonly account?: string | undefined;
  /** Where she logs in as someone else ("Not you?"). */
  readonly switchUrl?: string | undefined;
  /** Her page of connections. */
  readonly accountUrl?: string | undefined;
  /** Where `styleSheet()` is served. */
  readonly styleUrl: string;
}

export type FieldProblem = 'empty' | 'pattern' | 'unusable' | 'too-long';

export interface EntryField {
  /** The input's name, as in the configuration file. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** A secret is hidden while it is typed and never shown again. */
  readonly secret: boolean;
  readonly multiline: boolean;
  /** What was entered before; shown again only when `secret` is false. */
  readonly value?: string | undefined;
  readonly problem?: FieldProblem | undefined;
}

/** A form of ours: where it goes and the token that proves it came from our page. */
export interface Form {
  readonly action: string;
  readonly csrf: string;
}

export interface Entry extends Form {
  /** The MCP server that asks, by its title. */
  readonly server: string;
  /** The name that the client gives itself. */
  readonly client?: string | undefined;
  /** The id of the client, where the identity vouches for one. */
  readonly clientId?: string | undefined;
  /** The credential's title. */
  readonly title: string;
  readonly description?: string | undefined;
  /** An `https:` address where the secret can be found. */
  readonly help?: string | undefined;
  /** The tool that was called. */
  readonly purpose?: string | undefined;
  /** The person for whom it is stored. */
  readonly storedFor: string;
  /** The origin to which the secret will be sent. */
  readonly destination: string;
  readonly fields: readonly EntryField[];
  readonly keptForMs?: number | undefined;
  /** True when a stored secret will be replaced. */
  readonly replaces: boolean;
  /** True when the server refused the stored one. */
  readonly refused?: boolean | undefined;
  /** When the stored one expired, in milliseconds since the epoch. */
  readonly expiredOn?: number | undefined;
  /** Who is asked whether the value is good, before it is stored, and how that went. */
  readonly trial?: Trial | undefined;
}

export interface Trial {
  readonly judge: string;
  readonly verdict: 'refused' | 'timeout' | 'unreachable' | undefined;
  /** Where nobody could say: whether she may store it all the same. */
  readonly canStoreAnyway: boolean;
}

export type ProblemReason =
  | 'not-found'
  | 'forbidden-origin'
  | 'too-many'
  | 'unavailable'
  | 'not-local'
  | 'not-known'
  | 'too-large'
  | 'bad-request';

/** The page that asks for a secret. Its form posts the fields by name, `csrf`, and `action` = give | decline. */
export function renderEntry(frame: Frame, entry: Entry): string {
  const { words, language } = wordsIn(frame.language);
  const client = shortName(entry.client);
  const problems = entry.fields.filter(({ problem }) => problem !== undefined).length;
  const pageTitle = problems === 0 && entry.trial?.verdict === undefined ? words.entry.pageTitle : words.entry.pageTitleAgain;
  const model: EntryModel = {
    action: entry.action,
    csrf: entry.csrf,
    askedBy: words.entry.askedBy(entry.server),
    heading: words.entry.heading(entry.title),
    lead: words.entry.lead,
    facts: {
      heading: words.facts.heading,
      rows: factsOf(entry, client, language, words),
      assurance: words.facts.assurance(client),
      lockIcon: icon('lock'),
    },
    noticeIcon: icon('notice'),
    description: entry.description,
    help: helpOf(entry.help, words),
    replaces: beforeThis(entry, language, words),
    summary: problems === 0 ? trialSummary(entry.trial, words) : { heading: words.problems.summary(problems), texts: [words.problems.nothingStored] },
    trial: entry.trial === undefined ? undefined : words.trial.before(entry.trial.judge),
    storeAnyway: mayStoreAnyway(entry.trial) ? words.trial.storeAnyway : undefined,
    fields: fieldsOf(entry.fields, words),
    give: words.entry.give,
    decline: words.entry.decline,
  };
  return page(frame, pageTitle(entry.title, entry.server), entryBody(model));
}

/** The secret is stored. `continues` says whether this client retries by itself or waits for a word. */
export function renderDone(
  frame: Frame,
  done: { readonly title: string; readonly client?: string | undefined; readonly continues: 'by-itself' | 'say-continue' },
): string {
  const { done: words } = wordsIn(frame.language).words;
  const client = shortName(done.client);
  const next = done.continues === 'by-itself' ? words.byItself(client) : words.sayContinue(client);
  return message(frame, { tone: 'good', icon: 'done', heading: words.heading(done.title), paragraphs: [next, words.close] });
}

/** The person chose "not now". */
export function renderDeclined(frame: Frame, declined: { readonly client?: string | undefined }): string {
  const { declined: words, done } = wordsIn(frame.language).words;
  const paragraphs = [words.nothingStored, words.later(shortName(declined.client)), done.close];
  return message(frame, { tone: 'calm', icon: 'pause', heading: words.heading, paragraphs });
}

/** The link is too old. With `canRenew`, a button posts `action` = renew. */
export function renderExpired(
  frame: Frame,
  expired: Form & { readonly title: string; readonly canRenew: boolean },
): string {
  const { expired: words } = wordsIn(frame.language).words;
  const { action, csrf, canRenew, title } = expired;
  return message(frame, {
    tone: 'calm',
    icon: 'clock',
    heading: words.heading,
    pageTitle: words.pageTitle(title),
    paragraphs: canRenew ? [words.why(title)] : [words.why(title), words.askAgain],
    form: canRenew ? { action, csrf, value: 'renew', label: words.renew } : undefined,
  });
}

/** The link was used before, by its owner. */
export function renderAlreadyDone(frame: Frame, already: { readonly title: string }): string {
  const { alreadyDone: words, done } = wordsIn(frame.language).words;
  const paragraphs = [words.what, done.close];
  return message(frame, { tone: 'good', icon: 'done', heading: words.heading(already.title), paragraphs });
}

/** Something kept the page from being shown: what happened, and what the person can do. */
export function renderProblem(
  frame: Frame,
  problem: { readonly reason: ProblemReason; readonly retryAfterSeconds?: number | undefined },
): string {
  const { words, language } = wordsIn(frame.language);
  const { heading, what, todo } = words.problem[problem.reason];
  const { retryAfterSeconds: seconds } = problem;
  const wait = seconds === undefined ? undefined : durationIn(language, seconds * 1_000);
  const paragraphs = [what, typeof todo === 'string' ? todo : todo(wait)];
  return message(frame, { tone: 'calm', icon: problem.reason === 'too-many' ? 'clock' : 'notice', heading, paragraphs });
}

/** What became of what she stored before. */
function beforeThis({ refused, expiredOn, replaces, server }: Entry, language: string, { entry: words }: Words): string | undefined {
  if (refused === true) return words.refused(server);
  if (expiredOn !== undefined) return words.expired(dayIn(language, expiredOn));
  return replaces ? words.replaces : undefined;
}

function trialSummary(trial: Trial | undefined, { trial: words, problems }: Words): EntryModel['summary'] {
  if (trial?.verdict === undefined) return undefined;
  const { heading, what } = words[trial.verdict];
  return { heading, texts: [what(trial.judge), problems.nothingStored, ...(mayStoreAnyway(trial) ? [words.orAnyway] : [])] };
}

function mayStoreAnyway(trial: Trial | undefined): boolean {
  return trial?.verdict !== undefined && trial.verdict !== 'refused' && trial.canStoreAnyway;
}

function factsOf(entry: Entry, client: string | undefined, language: string, words: Words): FactsModel['rows'] {
  const { facts, consent } = words;
  const purpose = shortName(entry.purpose);
  const keptFor = entry.keptForMs === undefined ? undefined : durationIn(language, entry.keptForMs);
  return knownFacts([
    { term: facts.through, value: client, note: facts.selfReported },
    { term: consent.appId, value: entry.clientId === undefined ? undefined : plainLine(entry.clientId), isCode: true },
    { term: facts.neededFor, value: purpose, isCode: true },
    { term: facts.storedFor, value: plainLine(entry.storedFor) },
    { term: facts.sentOnlyTo, value: entry.destination, isCode: true },
    { term: facts.keptFor, value: keptFor },
  ]);
}

interface Fact {
  readonly term: string;
  readonly value: string | undefined;
  readonly note?: string;
  readonly isCode?: boolean;
  readonly more?: readonly string[];
}

/** The rows of a list of facts, without those that are not known. */
export function knownFacts(facts: readonly Fact[]): FactsModel['rows'] {
  return facts.flatMap(({ term, value, note, isCode = false, more = [] }) => (value === undefined ? [] : [{ term, value, note, isCode, more }]));
}

function fieldsOf(fields: readonly EntryField[], words: Words): readonly FieldModel[] {
  const firstProblem = fields.findIndex(({ problem }) => problem !== undefined);
  return fields.map((field, index) => {
    const id = `field-${String(index + 1)}`;
    const described = [field.hint !== undefined && `${id}-hint`, field.problem !== undefined && `${id}-problem`];
    const describedBy = described.filter((each) => each !== false).join(' ');
    return {
      id,
      name: field.name,
      label: field.label,
      hint: field.hint,
      problem: field.problem === undefined ? undefined : words.problems[field.problem],
      problemLabel: words.problems.label,
      describedBy: describedBy === '' ? undefined : describedBy,
      kind: `${field.secret ? 'secret-' : ''}${field.multiline ? 'lines' : 'line'}`,
      value: field.secret ? '' : (field.value ?? ''),
      hasFocus: index === firstProblem,
    };
  });
}

function helpOf(address: string | undefined, words: Words): EntryModel['help'] {
  const href = webAddress(address);
  if (href === undefined) return undefined;
  return { href, text: words.entry.help(new URL(href).host), newTab: words.frame.newTab };
}

type Optional = 'account' | 'link' | 'form';

export type Message = Omit<MessageModel, 'icon' | Optional> & {
  readonly icon: IconName;
  readonly pageTitle?: string;
} & { readonly [Part in Optional]?: MessageModel[Part] };

/** A page that tells how something went, with at most one thing to do. */
export function message(frame: Frame, { pageTitle, account, link, form, ...model }: Message): string {
  const body = messageBody({ ...model, icon: icon(model.icon), account, link, form });
  return page(frame, pageTitle ?? model.heading, body);
}

/** @param body HTML that was made by a template */
export function page(frame: Frame, pageTitle: string, body: string): string {
  const { words, language } = wordsIn(frame.language);
  const support = webAddress(frame.support);
  const links = frame.links.flatMap(({ title, url }) => {
    const href = webAddress(url);
    return href === undefined ? [] : [{ title, href }];
  });
  return documentPage({
    language,
    direction: words.direction,
    pageTitle: `${pageTitle} · ${frame.siteName}`,
    favicon,
    styleUrl: frame.styleUrl,
    siteName: frame.siteName,
    logoUrl: frame.logoUrl,
    mark,
    signedIn:
      frame.account === undefined ? undefined : { label: words.frame.signedInAs, account: plainLine(frame.account) },
    personLinks: [linkTo(frame.switchUrl, words.frame.notYou), linkTo(frame.accountUrl, words.frame.yourConnections)].filter(
      (link) => link !== undefined,
    ),
    languages: {
      label: words.frame.languages,
      current: words.languageName,
      icon: icon('globe'),
      list: frame.languages.map((each) => ({ ...each, isCurrent: each.code === language })),
    },
    links: support === undefined ? links : [{ title: words.frame.support, href: support }, ...links],
    body,
  });
}

/** A link within these pages, where there is an address for it. */
export function linkTo(href: string | undefined, title: string): LinkModel | undefined {
  return href === undefined ? undefined : { href, title };
}

/** An address that a link may lead to; a script or another scheme never becomes a link. */
function webAddress(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  return ['https:', 'http:', 'mailto:'].includes(new URL(address).protocol) ? address : undefined;
}
