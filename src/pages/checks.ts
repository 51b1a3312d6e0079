/**
 * The checks of a page, in the order of `routes.ts`. Each answers with the problem that ends the visit.
 * Nothing is changed before all of them have passed.
 */
import { isSamePerson } from '../identity/principal.ts';
import { isCsrfToken } from './csrf.ts';
import type { PageProblem, Pages, Redirect, Visit } from './visit.ts';

export type Check = (visit: Visit) => PageProblem | Redirect | undefined | Promise<PageProblem | Redirect | undefined>;

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
    const { with: picked } = visit.request.query as { readonly with?: unknown };
    visit.asked = ticket === undefined ? undefined : pages.find(ticket.upstream, ticket.subject.credential, typeof picked === 'string' ? picked : undefined);
    return visit.asked === undefined ? { reason: 'not-found', status: 404 } : undefined;
  };
}

/** Who is there; somebody unknown who can log in is sent to do so and comes back here. */
export function identify(pages: Pages): Check {
  return async (visit) => {
    const visitor = await pages.identify(visit.request);
    if (visitor.ok) {
      visit.visitor = visitor.value;
      return undefined;
    }
    if (visitor.error === 'login') return logIn(pages, visit);
    return { reason: visitor.error, status: visitor.error === 'unavailable' ? 503 : 403 };
  };
}

/** After a form the browser would not follow to another origin (CSP `form-action`), so she is told what happened. */
function logIn({ links }: Pages, { here, request }: Visit): PageProblem | Redirect {
  if (links.login === undefined) return { reason: 'not-known', status: 403 };
  return request.method === 'POST' ? { reason: 'signed-out', status: 403 } : { location: links.login(here) };
}

/** A link serves its owner only. Anyone else learns nothing of whose it is, and does not use it up. */
export function isSameUser(pages: Pages): Check {
  return (visit) => {
    const { visitor, opened } = visit;
    if (visitor === undefined || opened === undefined) throw new Error('a person is compared before both sides are known');
    const { subject, upstream } = opened.ticket;
    if (isSamePerson({ ...subject, name: '' }, visitor.principal)) return undefined;
    pages.audit.record('wrong-person', { principal: visitor.principal, upstream, credential: subject.credential });
    return { reason: 'wrong-person', status: 403 };
  };
}

export function hasCsrfToken(pages: Pages): Check {
  return ({ visitor, ticketId, form }) => {
    const isOurs = visitor !== undefined && isCsrfToken(pages, visitor, ticketId === '' ? 'account' : ticketId, form['csrf']);
    return isOurs ? undefined : { reason: 'forbidden-origin', status: 403 };
  };
}

/** Buttons that bring no value; a form without one of these brings one, whatever it says. */
const otherButtons: readonly unknown[] = ['decline', 'renew', 'agree'];

export function limitSubmissions(pages: Pages): Check {
  return async ({ visitor, form, request }) => {
    if (visitor === undefined || otherButtons.includes(form['action'])) return undefined;
    return tooMany(await pages.countSubmission(request, visitor.principal));
  };
}

function tooMany(waitSeconds: number | undefined): PageProblem | undefined {
  return waitSeconds === undefined ? undefined : { reason: 'too-many', status: 429, retryAfterSeconds: waitSeconds };
}
