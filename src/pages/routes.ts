/**
 * The whole life of a page, as lists of named checks that are read from top to bottom. A check that finds
 * a problem ends the visit with a page that says what happened and what to do.
 */
import { createHash } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../errors.ts';
import type { Visitor } from '../identity/visitor.ts';
import { describeError } from '../operate/log.ts';
import { changeAccount, showAccount } from './account.ts';
import { hasCsrfToken, identify, isAddressed, isSameOrigin, isSameUser, limitPages, limitSubmissions, load, type Check } from './checks.ts';
import { showQuestion, takeAnswer } from './connect.ts';
import { registerLogin, type LoginPages } from './login-routes.ts';
import { registerOauth, type OauthDocuments } from './oauth-routes.ts';
import { renderLoginProblem, renderWrongPerson } from './person-views.ts';
import { securityHeaders } from './security-headers.ts';
import { renderProblem } from './views.ts';
import { Visit, type Act, type CheckedVisit, type Page, type PageProblem, type Pages } from './visit.ts';

const checks = {
  showLink: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages), load(pages), identify(pages), isSameUser(pages)],
  answerLink: (pages: Pages): readonly Check[] => [
    isAddressed(pages),
    limitPages(pages),
    isSameOrigin(pages),
    load(pages),
    identify(pages),
    isSameUser(pages),
    hasCsrfToken(pages),
    limitSubmissions(pages),
  ],
  showAccount: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages), identify(pages)],
  changeAccount: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages), isSameOrigin(pages), identify(pages), hasCsrfToken(pages)],
  comeBack: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages)],
  logIn: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages)],
  logOut: (pages: Pages): readonly Check[] => [isAddressed(pages), limitPages(pages), isSameOrigin(pages)],
};

const maxFormBytes = 256 * 1024;

export interface PageRoutes {
  /** Paths below which the pages hang. */
  readonly prefixes: readonly string[];
  readonly css: string;
  /** Paths that upstreams have. */
  readonly taken?: ReadonlySet<string>;
  /** They are reached over https. */
  readonly isSecure: boolean;
  /** Login with a session of ours, where the file wants it. */
  readonly login?: LoginPages;
  readonly oauth: OauthDocuments;
}

export function registerPages(server: FastifyInstance, pages: Pages, { prefixes, css, taken = new Set(), isSecure, login, oauth }: PageRoutes): void {
  server.addHook('onRequest', async (_request, reply) => {
    void reply.headers(securityHeaders);
    if (isSecure) void reply.header('strict-transport-security', 'max-age=31536000');
  });
  server.setErrorHandler((error: FastifyError, request, reply) => answerError(pages, error, request, reply));
  const get = { exposeHeadRoute: false };
  const post = { bodyLimit: maxFormBytes };
  const { signOut } = pages.links;
  for (const prefix of prefixes) {
    const root = prefix === '' ? '/' : prefix;
    if (!taken.has(root)) server.get(root, get, (_request, reply) => reply.redirect(pages.links.account, 303));
    server.get(`${prefix}/connect/:ticket`, get, handlerOf(pages, checks.showLink(pages), (visit) => showQuestion(pages, checkedLink(visit))));
    server.post(`${prefix}/connect/:ticket`, post, handlerOf(pages, checks.answerLink(pages), (visit, reply) => takeAnswer(pages, checkedLink(visit), reply)));
    server.get(`${prefix}/account`, get, handlerOf(pages, checks.showAccount(pages), (visit) => showAccount(pages, visitorOf(visit), pages.frame(visit.request, visit.visitor, visit.here))));
    server.post(`${prefix}/account`, post, handlerOf(pages, checks.changeAccount(pages), async (visit) => ({ location: await changeAccount(pages, visitorOf(visit), visit.form) })));
    server.get(`${prefix}${stylePath(css)}`, get, (_request, reply) => reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable').send(css));
    registerOauth(server, pages, prefix, handlerOf.bind(undefined, pages, checks.comeBack(pages)), oauth);
    if (login !== undefined && signOut !== undefined) registerLogin(server, pages, login, prefix, { logIn: handlerOf.bind(undefined, pages, checks.logIn(pages)), logOut: handlerOf.bind(undefined, pages, checks.logOut(pages)) });
  }
}

/** An address that cannot be read, such as one with `%ff`. No route and no hook has run. */
export function answerBadAddress(pages: Pages, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.query = {};
  return sendPage(reply.headers(securityHeaders), { status: 404, html: renderProblem(pages.frame(request), { reason: 'not-found', retryAfterSeconds: undefined }) });
}

/** The style sheet's path changes with its content, so it may be kept for ever. */
export function stylePath(css: string): string {
  return `/assets/style-${createHash('sha256').update(css).digest('hex').slice(0, 12)}.css`;
}

function handlerOf(pages: Pages, all: readonly Check[], act: Act) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = new Visit(request);
    for (const check of all) {
      const ended = await check(visit);
      if (ended !== undefined) return 'location' in ended ? reply.redirect(ended.location, 303) : sendProblem(pages, visit, reply, ended);
    }
    const outcome = await act(visit, reply);
    if ('location' in outcome) return reply.redirect(outcome.location, 303);
    return 'html' in outcome ? sendPage(reply, outcome) : sendProblem(pages, visit, reply, outcome);
  };
}

function visitorOf({ visitor }: Visit): Visitor {
  if (visitor === undefined) throw new Error('a page was reached without its checks');
  return visitor;
}

function checkedLink(visit: Visit): CheckedVisit {
  const { request, ticketId, opened, asked, form } = visit;
  if (opened === undefined || asked === undefined) throw new Error('a page was reached without its checks');
  return { request, ticketId, visitor: visitorOf(visit), opened, asked, form };
}

function sendProblem(pages: Pages, visit: Visit, reply: FastifyReply, problem: PageProblem): FastifyReply {
  const { status, reason, retryAfterSeconds, visitor = visit.visitor, here = visit.here } = problem;
  const frame = pages.frame(visit.request, visitor, here);
  const html = (): string => {
    switch (reason) {
      case 'wrong-person':
        return renderWrongPerson(frame, { account: visitor?.principal.name ?? '', switchUrl: frame.switchUrl });
      case 'signed-out':
        return renderLoginProblem(frame, { reason: 'stale', retryUrl: pages.links.login?.(here) ?? pages.links.account });
      default:
        return renderProblem(frame, { reason, retryAfterSeconds });
    }
  };
  return sendPage(reply, { status, html: html(), ...(retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }) });
}

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply.code(page.status).headers(page.headers ?? {}).type('text/html; charset=utf-8').send(page.html);
}

function answerError(pages: Pages, error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // The rest of a form that is too large is read and thrown away: a browser that is cut off while it sends shows no page.
  if (error.statusCode === 413) return sendProblem(pages, new Visit(request), reply.removeHeader('connection'), { reason: 'too-large', status: 413 });
  if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(pages, new Visit(request), reply, { reason: 'bad-request', status: 400 });
  pages.log.error({ reason: describeError(error) }, error instanceof UnavailableError ? 'a page could not reach the vault' : 'a page failed');
  return sendProblem(pages, new Visit(request), reply, { reason: 'unavailable', status: 503 });
}
