/**
 * The whole life of a page, as lists of named checks that are read from top to bottom. A check that finds
 * a problem ends the visit with a page that says what happened and what to do.
 */
import { createHash } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../errors.ts';
import { describeError } from '../operate/log.ts';
import { hasCsrfToken, identify, isAddressed, isSameOrigin, isSameUser, limitPages, limitSubmissions, load, type Check } from './checks.ts';
import { showQuestion, takeAnswer } from './connect.ts';
import { renderProblem } from './views.ts';
import { Visit, type CheckedVisit, type Page, type PageProblem, type Pages } from './visit.ts';

function getChecks(pages: Pages): readonly Check[] {
  return [isAddressed(pages), limitPages(pages), load(pages), identify(pages), isSameUser];
}

function postChecks(pages: Pages): readonly Check[] {
  return [isAddressed(pages), limitPages(pages), isSameOrigin(pages), load(pages), identify(pages), isSameUser, hasCsrfToken(pages), limitSubmissions(pages)];
}

const maxFormBytes = 256 * 1024;

/** Nothing on these pages comes from elsewhere, runs, is framed, is kept, or tells the next page where it was. */
const securityHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** @param prefixes paths below which the pages hang; @param isSecure they are reached over https */
export function registerPages(server: FastifyInstance, pages: Pages, prefixes: readonly string[], css: string, isSecure: boolean): void {
  server.addHook('onRequest', async (_request, reply) => {
    void reply.headers(securityHeaders);
    if (isSecure) void reply.header('strict-transport-security', 'max-age=31536000');
  });
  server.setErrorHandler((error: FastifyError, request, reply) => answerError(pages, error, request, reply));
  for (const prefix of prefixes) {
    server.get(`${prefix}/connect/:ticket`, { exposeHeadRoute: false }, handlerOf(pages, getChecks(pages), showQuestion));
    server.post(`${prefix}/connect/:ticket`, { bodyLimit: maxFormBytes }, handlerOf(pages, postChecks(pages), takeAnswer));
    server.get(`${prefix}${stylePath(css)}`, (_request, reply) => reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable').send(css));
  }
}

/** The style sheet's path changes with its content, so it may be kept for ever. */
export function stylePath(css: string): string {
  return `/assets/style-${createHash('sha256').update(css).digest('hex').slice(0, 12)}.css`;
}

type Act = (pages: Pages, visit: CheckedVisit) => Promise<Page | { readonly location: string }>;

function handlerOf(pages: Pages, checks: readonly Check[], act: Act) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const visit = new Visit(request, reply);
    for (const check of checks) {
      const problem = await check(visit);
      if (problem !== undefined) return sendProblem(pages, request, reply, problem);
    }
    const { principal, opened, asked } = visit;
    if (principal === undefined || opened === undefined || asked === undefined) throw new Error('a page was reached without its checks');
    const outcome = await act(pages, { request, ticketId: visit.ticketId, principal, opened, asked, form: visit.form });
    return 'location' in outcome ? reply.redirect(outcome.location, 303) : sendPage(reply, outcome);
  };
}

function sendProblem(pages: Pages, request: FastifyRequest, reply: FastifyReply, problem: PageProblem): FastifyReply {
  const { status, reason, retryAfterSeconds } = problem;
  const html = renderProblem(pages.frame(request, undefined), { reason, retryAfterSeconds });
  return sendPage(reply, { status, html, ...(retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }) });
}

function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply.code(page.status).headers(page.headers ?? {}).type('text/html; charset=utf-8').send(page.html);
}

function answerError(pages: Pages, error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.statusCode === 413) return sendProblem(pages, request, reply, { reason: 'too-large', status: 413 });
  if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(pages, request, reply, { reason: 'bad-request', status: 400 });
  pages.log.error({ reason: describeError(error) }, error instanceof UnavailableError ? 'a page could not reach the vault' : 'a page failed');
  return sendProblem(pages, request, reply, { reason: 'unavailable', status: 503 });
}
