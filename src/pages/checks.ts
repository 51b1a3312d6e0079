/**
 * The checks of a page, in the order of `routes.ts`. Each answers with the problem that ends the visit.
 * Nothing is changed before all of them have passed.
 */
import { isSamePerson } from '../identity/principal.ts';
import type { PageProblem, Pages, Visit } from './visit.ts';

export type Check = (visit: Visit) => PageProblem | undefined | Promise<PageProblem | undefined>;

export function isAddressed(pages: Pages): Check {
  return (visit) => (pages.addressed.check({ host: visit.request.headers.host }) === undefined ? undefined : { reason: 'bad-request', status: 403 });
}

export function limitPages(pages: Pages): Check {
  return async (visit) => tooMany(await pages.countPage(visit.request));
}

/** A form of ours comes from a page of ours. Browsers that say nothing are held to the form's own token. */
export function isSameOrigin(pages: Pages): Check {
  return ({ request: { headers } }) => {
    const site = headers['sec-fetch-site'];
    const isOwnSite = site === undefined || site === 'same-origin';
    // The pages' referrer policy makes browsers send `null` for their own forms; then Sec-Fetch-Site decides.
    const isOwnOrigin = headers.origin === undefined || pages.addressed.isOwnOrigin(headers.origin) || (headers.origin === 'null' && site === 'same-origin');
    return isOwnSite && isOwnOrigin ? undefined : { reason: 'forbidden-origin', status: 403 };
  };
}

export function load(pages: Pages): Check {
  return async (visit) => {
    visit.opened = await pages.interactions.open(visit.ticketId);
    const ticket = visit.opened?.ticket;
    visit.asked = ticket === undefined ? undefined : pages.find(ticket.upstream, ticket.subject.credential);
    return visit.asked === undefined ? { reason: 'not-found', status: 404 } : undefined;
  };
}

export function identify(pages: Pages): Check {
  return (visit) => {
    const visitor = pages.identify(visit.request);
    if (!visitor.ok) return { reason: visitor.error, status: 403 };
    visit.principal = visitor.value;
    return undefined;
  };
}

/** The link of somebody else is as unknown as one that never was. */
export function isSameUser(visit: Visit): PageProblem | undefined {
  const subject = visit.opened?.ticket.subject;
  const isHers = visit.principal !== undefined && subject !== undefined && isSamePerson({ ...subject, name: '' }, visit.principal);
  return isHers ? undefined : { reason: 'not-found', status: 404 };
}

export function hasCsrfToken(pages: Pages): Check {
  return (visit) => (isCsrfToken(pages, visit, visit.form['csrf']) ? undefined : { reason: 'forbidden-origin', status: 403 });
}

export function limitSubmissions(pages: Pages): Check {
  return async (visit) => {
    if (visit.principal === undefined || visit.form['action'] !== 'give') return undefined;
    return tooMany(await pages.countSubmission(visit.request, visit.principal));
  };
}

/** The token of a form: sealed for one person and one link. */
export function csrfToken(pages: Pages, visit: Pick<Visit, 'principal' | 'ticketId'>): string {
  return pages.ring.seal('csrf', csrfIdentity(pages, visit), new Uint8Array()).toString('base64url');
}

function isCsrfToken(pages: Pages, visit: Visit, token: unknown): boolean {
  return typeof token === 'string' && pages.ring.open('csrf', csrfIdentity(pages, visit), Buffer.from(token, 'base64url')) !== undefined;
}

function csrfIdentity(pages: Pages, { principal, ticketId }: Pick<Visit, 'principal' | 'ticketId'>): string[] {
  return [pages.namespace, principal?.issuer ?? '', principal?.subject ?? '', ticketId];
}

function tooMany(waitSeconds: number | undefined): PageProblem | undefined {
  return waitSeconds === undefined ? undefined : { reason: 'too-many', status: 429, retryAfterSeconds: waitSeconds };
}
