/**
 * The pages of connecting an account at a third party: the one that names provider, permissions and account
 * before anybody leaves, and those that say what happened when she comes back. They keep the promises of
 * views.ts; of what a third party says, at most its one-word error code is shown.
 */
import { icon } from './assets.ts';
import { plainLine, shortName } from './plain-name.ts';
import { entryBody } from './templates.ts';
import { knownFacts, message, page, type Form, type Frame } from './views.ts';
import { wordsIn } from './words.ts';

export interface Away extends Form {
  readonly server: string;
  /** The credential's title. */
  readonly title: string;
  readonly description?: string | undefined;
  /** The name that the client gives itself. */
  readonly client?: string | undefined;
  readonly clientId?: string | undefined;
  /** The tool that was called. */
  readonly purpose?: string | undefined;
  /** The person for whom it is stored. */
  readonly storedFor: string;
  /** Where the tokens will be sent. */
  readonly destination: string;
  /** Origin of the third party's page. */
  readonly provider: string;
  readonly scopes: readonly string[];
  /** What she has connected before: good, lacking permissions, or refused. */
  readonly before?: 'replaced' | 'narrow' | 'refused' | undefined;
}

/** The page before she leaves. Its form posts `csrf` and `action` = give | decline. */
export function renderAway(frame: Frame, away: Away): string {
  const { away: words, consent, entry, facts } = wordsIn(frame.language).words;
  const { host } = new URL(away.provider);
  const client = shortName(away.client);
  const [scope, ...more] = away.scopes.map(plainLine);
  const before = { replaced: words.replaces, narrow: words.more(away.server), refused: words.refused };
  const body = entryBody({
    action: away.action,
    csrf: away.csrf,
    askedBy: entry.askedBy(away.server),
    heading: entry.heading(away.title),
    lead: words.lead(host),
    facts: {
      heading: facts.heading,
      rows: knownFacts([
        { term: words.goingTo, value: away.provider, isCode: true },
        { term: words.permissions, value: scope, isCode: true, more },
        { term: facts.through, value: client, note: facts.selfReported },
        { term: consent.appId, value: away.clientId === undefined ? undefined : plainLine(away.clientId), isCode: true },
        { term: facts.neededFor, value: shortName(away.purpose), isCode: true },
        { term: facts.storedFor, value: plainLine(away.storedFor) },
        { term: facts.sentOnlyTo, value: away.destination, isCode: true },
      ]),
      assurance: facts.assurance(client),
      lockIcon: icon('lock'),
    },
    noticeIcon: icon('notice'),
    description: away.description,
    help: undefined,
    replaces: away.before === undefined ? undefined : before[away.before],
    trial: undefined,
    storeAnyway: undefined,
    summary: undefined,
    fields: [],
    give: words.go(host),
    decline: entry.decline,
  });
  return page(frame, entry.pageTitle(away.title, away.server), body);
}

export interface Back {
  /** `stale`: no such journey in this browser. */
  readonly reason: 'stale' | 'denied' | 'failed' | 'unreachable' | 'unfit';
  /** The credential's title, where it is known. */
  readonly title?: string | undefined;
  /** The third party's own word for it. */
  readonly code?: string | undefined;
  /** Where she can begin anew, or her connections. */
  readonly retryUrl: string;
}

/** She is back, or could not leave, and nothing was stored. */
export function renderBack(frame: Frame, { reason, title = '', code, retryUrl }: Back): string {
  const { back: words, frame: frameWords } = wordsIn(frame.language).words;
  const { heading, what } = words[reason];
  return message(frame, {
    tone: 'calm',
    icon: reason === 'stale' ? 'clock' : reason === 'denied' ? 'pause' : 'notice',
    heading,
    paragraphs: [typeof what === 'string' ? what : what(title), ...(code === undefined || reason === 'denied' ? [] : [words.code(code)])],
    link: { href: retryUrl, title: reason === 'stale' && title === '' ? frameWords.yourConnections : words.retry },
  });
}

/** She allowed less than is needed. What she allowed is stored. */
export function renderPartly(frame: Frame, { title, missing, retryUrl }: { readonly title: string; readonly missing: readonly string[]; readonly retryUrl: string }): string {
  const { back: words } = wordsIn(frame.language).words;
  const { heading, what, todo } = words.partly;
  return message(frame, { tone: 'calm', icon: 'notice', heading, paragraphs: [what(title), missing.map(plainLine).join(', '), todo], link: { href: retryUrl, title: words.retry } });
}
