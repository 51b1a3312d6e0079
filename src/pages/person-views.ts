/**
 * The pages that are about the person herself: what she has connected, whether one more app may use it,
 * and what happens when the person in the browser is another one, nobody, or could not be logged in.
 * They keep the promises of views.ts, and one more: the page for the wrong person knows only the
 * account of its visitor, so it cannot tell whose link it is (MCP 2025-11-25, client/elicitation,
 * "Phishing").
 */
import { icon } from './assets.ts';
import { dayIn } from './duration.ts';
import type { IconName } from './assets.ts';
import { plainLine, shortName } from './plain-name.ts';
import { connectionsBody, consentBody } from './person-templates.ts';
import type { ConnectionModel, ConnectionsModel, FactValue } from './person-templates.ts';
import { knownFacts, linkTo, message, page } from './views.ts';
import type { Form, Frame } from './views.ts';
import { wordsIn } from './words.ts';
import type { Words } from './words/en.ts';

/** One thing that can be connected, and what is stored for it. */
export interface AccountRow {
  readonly upstream: string;
  readonly credential: string;
  /** The MCP server, by its title. */
  readonly server: string;
  /** The credential's title. */
  readonly title: string;
  readonly description?: string | undefined;
  /** The origin to which it is sent. */
  readonly destination: string;
  /** `outdated`: what it is or where it goes has changed since it was given. */
  readonly status: 'none' | 'stored' | 'expired' | 'outdated' | 'rejected';
  /** Milliseconds since the epoch, as are `lastUsed` and `until`. */
  readonly since?: number;
  readonly lastUsed?: number;
  readonly until?: number;
  /** It expires within days. */
  readonly endsSoon?: boolean;
  /** Ids of the clients that it serves. */
  readonly clients?: readonly string[];
}

export interface Account extends Form {
  readonly rows: readonly AccountRow[];
  /** Where the form that logs out goes, where there is a login to end. */
  readonly signOut?: { readonly action: string };
}

export interface Consent extends Form {
  readonly server: string;
  /** The credential's title. */
  readonly title: string;
  /** The name that the client gives itself. */
  readonly client?: string | undefined;
  readonly clientId: string;
  /** The person for whom it is stored. */
  readonly storedFor: string;
  readonly destination: string;
  /** The tool that was called. */
  readonly purpose?: string | undefined;
  /** Where she gives something else in place of what is stored. */
  readonly replaceUrl: string;
}

export type LoginReason = 'stale' | 'denied' | 'failed' | 'unavailable';

/** What is connected. Each row's form posts `csrf`, `upstream`, `credential`, and `action` = connect | disconnect. */
export function renderAccount(frame: Frame, { action, csrf, rows, signOut }: Account): string {
  const { words, language } = wordsIn(frame.language);
  const { account } = words;
  const connections = rows.map((row, index) => ({ server: row.server, connection: connectionOf(row, index, language, words) }));
  const groups = Map.groupBy(connections, ({ server }) => server);
  const model: ConnectionsModel = {
    action,
    csrf,
    heading: account.heading,
    lead: account.lead,
    owner:
      frame.account === undefined || rows.length === 0
        ? undefined
        : { icon: icon('lock'), text: account.yours(plainLine(frame.account)) },
    empty: account.empty,
    groups: [...groups].map(([server, members], index) => ({
      id: `server-${String(index + 1)}`,
      server,
      connections: members.map(({ connection }) => connection),
    })),
    signOut: signOut === undefined ? undefined : { action: signOut.action, label: account.signOut },
  };
  return page({ ...frame, accountUrl: undefined }, account.heading, connectionsBody(model));
}

/** The page that asks whether one more app may use what is stored. Its form posts `csrf` and `action` = agree | decline. */
export function renderConsent(frame: Frame, consent: Consent): string {
  const { consent: words, entry, facts } = wordsIn(frame.language).words;
  const { action, csrf, server, title } = consent;
  const body = consentBody({
    action,
    csrf,
    askedBy: entry.askedBy(server),
    heading: words.heading(title),
    lead: words.lead(title),
    caution: words.caution,
    facts: {
      heading: words.factsHeading,
      rows: knownFacts([
        { term: words.app, value: shortName(consent.client), note: facts.selfReported },
        { term: words.appId, value: plainLine(consent.clientId), isCode: true },
        { term: facts.neededFor, value: shortName(consent.purpose), isCode: true },
        { term: facts.storedFor, value: plainLine(consent.storedFor) },
        { term: facts.sentOnlyTo, value: consent.destination, isCode: true },
      ]),
      assurance: words.assurance,
      lockIcon: icon('lock'),
    },
    allow: words.allow,
    decline: words.decline,
    replace: { href: consent.replaceUrl, title: words.replace },
  });
  return page(frame, words.pageTitle(title, server), body);
}

/** The link is not for this visitor. Says who she is here, and nothing about whose link it is. */
export function renderWrongPerson(
  frame: Frame,
  visitor: { readonly account: string; readonly switchUrl?: string | undefined },
): string {
  const { wrongPerson: words, frame: frameWords } = wordsIn(frame.language).words;
  const { switchUrl } = visitor;
  return message(nobodyIn(frame), {
    tone: 'calm',
    icon: 'person',
    heading: words.heading,
    account: { label: frameWords.signedInAs, name: plainLine(visitor.account) },
    paragraphs: [words.what, ...(switchUrl === undefined ? [words.switchElsewhere] : []), words.notMeant],
    link: linkTo(switchUrl, words.switchAccount),
  });
}

/** She has logged out here. */
export function renderSignedOut(frame: Frame, { loginUrl }: { readonly loginUrl: string }): string {
  const { signedOut: words } = wordsIn(frame.language).words;
  return message(nobodyIn(frame), {
    tone: 'good',
    icon: 'done',
    heading: words.heading,
    paragraphs: [words.what, words.elsewhere],
    link: { href: loginUrl, title: words.signIn },
  });
}

/** A login that did not come to its end, and how to try again. */
export function renderLoginProblem(
  frame: Frame,
  problem: { readonly reason: LoginReason; readonly retryUrl: string },
): string {
  const { login: words } = wordsIn(frame.language).words;
  const { heading, what } = words[problem.reason];
  return message(nobodyIn(frame), {
    tone: 'calm',
    icon: problem.reason === 'stale' ? 'clock' : 'notice',
    heading,
    paragraphs: [what, words.yourLink],
    link: { href: problem.retryUrl, title: words.retry },
  });
}

/** A frame that shows no account and leads to none. */
function nobodyIn(frame: Frame): Frame {
  return { ...frame, account: undefined, switchUrl: undefined, accountUrl: undefined };
}

const statusIcons: Readonly<Record<AccountRow['status'], IconName>> = {
  none: 'open',
  stored: 'done',
  expired: 'clock',
  outdated: 'notice',
  rejected: 'notice',
};

function connectionOf(row: AccountRow, index: number, language: string, words: Words): ConnectionModel {
  const { account, facts } = words;
  const isStored = row.status !== 'none';
  const clients = row.clients ?? [];
  const rows: readonly { readonly term: string; readonly values: readonly FactValue[] }[] = [
    { term: facts.sentOnlyTo, values: [{ text: row.destination, isCode: true }] },
    { term: account.storedOn, values: dateOf(row.since, language) },
    { term: account.lastUsed, values: dateOf(row.lastUsed, language) },
    { term: row.status === 'expired' ? account.expiredOn : account.validUntil, values: dateOf(row.until, language) },
    { term: account.usedThrough, values: clients.map((client) => ({ text: plainLine(client), isCode: true })) },
  ];
  return {
    id: `connection-${String(index + 1)}`,
    upstream: row.upstream,
    credential: row.credential,
    title: row.title,
    status: {
      kind: row.status,
      word: account.status[row.status],
      icon: icon(statusIcons[row.status]),
      note: row.status === 'stored' && row.endsSoon === true ? account.endsSoon : row.status === 'none' || row.status === 'stored' ? undefined : account[row.status],
    },
    description: row.description,
    facts: rows.filter(({ values }) => values.length > 0),
    connect: isStored ? account.replace : account.connect,
    isMain: row.status !== 'stored' || row.endsSoon === true,
    disconnect: isStored
      ? { label: account.disconnect, note: account.disconnectNote, now: account.disconnectNow }
      : undefined,
  };
}

function dateOf(time: number | undefined, language: string): readonly FactValue[] {
  if (time === undefined) return [];
  return [{ text: dayIn(language, time), datetime: new Date(time).toISOString() }];
}
