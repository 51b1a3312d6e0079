/**
 * Logging in and out (`/auth/login`, `/auth/callback`, `/auth/logout`). Where a person goes after a login is
 * one of our own pages, checked when the login begins; whatever else is asked for becomes her account page.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnavailableError } from '../errors.ts';
import type { CookieRules } from '../identity/cookies.ts';
import type { BrowserLogin } from '../identity/identity.ts';
import { isCsrfToken } from './csrf.ts';
import { renderLoginProblem, renderSignedOut } from './person-views.ts';
import type { Act, Page, Pages, Redirect, Visit } from './visit.ts';

export interface LoginPages {
  readonly browserLogin: BrowserLogin;
  readonly cookies: CookieRules;
  /** Path of the pages as browsers see it. */
  readonly base: string;
  /** The address that begins a login. */
  readonly href: (here: string) => string;
}

const loginSeconds = 600;
const ownPage = /^(?:account|connect\/[\w-]{1,64})$/;

/** The only places to which a login leads. */
export function returnPath(asked: unknown): string {
  return typeof asked === 'string' && ownPage.test(asked) ? asked : 'account';
}

/** Puts the checks of a page before what it does. */
type Guard = (act: Act) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export function registerLogin(server: FastifyInstance, pages: Pages, login: LoginPages, prefix: string, guard: { readonly logIn: Guard; readonly logOut: Guard }): void {
  server.get(`${prefix}/auth/login`, { exposeHeadRoute: false }, guard.logIn((visit, reply) => beginLogin(pages, login, visit.request, reply)));
  server.get(`${prefix}/auth/callback`, { exposeHeadRoute: false }, guard.logIn((visit, reply) => finishLogin(pages, login, visit.request, reply)));
  server.post(`${prefix}/auth/logout`, guard.logOut((visit, reply) => logOut(pages, login, visit, reply)));
}

async function beginLogin(pages: Pages, { browserLogin, cookies, href }: LoginPages, request: FastifyRequest, reply: FastifyReply): Promise<Page | Redirect> {
  const { return: asked, switch: isSwitch } = request.query as { readonly return?: unknown; readonly switch?: unknown };
  const frame = pages.frame(request);
  const returnTo = returnPath(asked);
  const begun = await browserLogin.login.begin(returnTo, { isForced: isSwitch === '1', language: frame.language });
  if (!begun.ok) return { status: 503, html: renderLoginProblem(frame, { reason: begun.error, retryUrl: href(returnTo) }) };
  void reply.setCookie(cookies.loginName(begun.value.state), begun.value.browser, { ...cookies.options, maxAge: loginSeconds });
  return { location: begun.value.url };
}

async function finishLogin(pages: Pages, { browserLogin, cookies, base, href }: LoginPages, request: FastifyRequest, reply: FastifyReply): Promise<Page | Redirect> {
  const { state } = request.query as { readonly state?: unknown };
  const end = await browserLogin.login.finish(new URL(request.url, 'http://local').search, (one) => request.cookies[cookies.loginName(one)]);
  const isTaken = end.ok || end.error.reason !== 'stale';
  if (isTaken && typeof state === 'string') void reply.clearCookie(cookies.loginName(state), cookies.options);
  if (!end.ok) {
    const { reason, returnTo = 'account' } = end.error;
    return { status: reason === 'unavailable' ? 503 : 400, html: renderLoginProblem(pages.frame(request), { reason, retryUrl: href(returnTo) }) };
  }
  const { principal, returnTo } = end.value;
  const old = request.cookies[cookies.sessionName];
  if (old !== undefined) await browserLogin.sessions.end(old);
  const cookie = await browserLogin.sessions.begin(principal);
  pages.audit.record('login', { principal });
  void reply.setCookie(cookies.sessionName, cookie, cookies.options);
  return { location: `${base}/${returnTo}` };
}

async function logOut(pages: Pages, { browserLogin, cookies, href }: LoginPages, { request, form }: Visit, reply: FastifyReply): Promise<Page | Redirect> {
  const visitor = await pages.identify(request);
  if (!visitor.ok && visitor.error === 'unavailable') throw new UnavailableError('a session could not be ended');
  const cookie = request.cookies[cookies.sessionName];
  // Without a session there is nothing to end, and nothing that a forged form could do.
  if (visitor.ok && cookie !== undefined) {
    if (!isCsrfToken(pages, visitor.value, 'account', form['csrf'])) return { location: pages.links.account };
    await browserLogin.sessions.end(cookie);
    pages.audit.record('logout', { principal: visitor.value.principal });
  }
  void reply.clearCookie(cookies.sessionName, cookies.options);
  return { status: 200, html: renderSignedOut(pages.frame(request), { loginUrl: href('account') }) };
}
