/**
 * What third parties need of us: where people come back (`/oauth/callback`), and the documents that say who
 * this installation is (`/client.json`, `/client-public.json`, `/client-jwks.json`). On the way back browser,
 * person and login session must be those that left, and the journey is taken, before the code is redeemed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientMetadata, type Installation } from '../collect/oauth/client.ts';
import type { ClientKeys } from '../collect/oauth/client-keys.ts';
import { digest, type FoundJourney } from '../collect/oauth/journeys.ts';
import { accountOf } from '../gateway/protected-upstream.ts';
import { isSamePerson } from '../identity/principal.ts';
import { retryUrl, storeAccount } from './connect-account.ts';
import { renderBack } from './oauth-views.ts';
import { frameOf, record, titleOf } from './question.ts';
import type { Act, CheckedVisit, Page, PageProblem, Pages } from './visit.ts';

export interface OauthDocuments {
  readonly installation: Installation;
  readonly keys: ClientKeys;
}

/** Puts the checks of a page before what it does. */
type Guard = (act: Act) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export function registerOauth(server: FastifyInstance, pages: Pages, prefix: string, guard: Guard, { installation, keys }: OauthDocuments): void {
  const get = { exposeHeadRoute: false };
  server.get(`${prefix}/oauth/callback`, get, guard((visit, reply) => comeBack(pages, visit.request, reply)));
  const { documents } = installation;
  if (documents === undefined) return;
  const publish = (path: string, document: unknown): void => {
    server.get(`${prefix}${path}`, get, (_request, reply) => reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*').type('application/json').send(JSON.stringify(document)));
  };
  publish('/client.json', { client_id: documents.signed, ...clientMetadata(installation, 'private_key_jwt') });
  publish('/client-public.json', { client_id: documents.plain, ...clientMetadata(installation, 'none') });
  publish('/client-jwks.json', keys.jwks);
}

async function comeBack(pages: Pages, request: FastifyRequest, reply: FastifyReply): Promise<Page | PageProblem> {
  const { search } = new URL(request.url, 'http://local');
  const [state, ...others] = new URLSearchParams(search).getAll('state');
  const found = state === undefined || others.length > 0 ? undefined : await pages.accounts.journeys.find(state, request.cookies[pages.cookies.journeyName(state)]);
  if (state === undefined || found === undefined) return { status: 400, html: renderBack(pages.frame(request), { reason: 'stale', retryUrl: pages.links.account }) };
  const visit = await sameVisit(pages, request, found);
  if ('reason' in visit) return visit;
  const { journey } = found;
  const frame = frameOf(pages, visit);
  const account = accountOf(visit.asked.credential);
  const isHers = digest(visit.visitor.session) === journey.sessionDigest && account !== undefined;
  const told = { title: titleOf(visit, frame), retryUrl: retryUrl(pages, visit, frame) };
  if (!isHers || !(await found.take())) return { status: 400, html: renderBack(frame, { reason: 'stale', ...told }) };
  void reply.clearCookie(pages.cookies.journeyName(state), pages.cookies.options);
  const granted = await pages.accounts.redeem(account, journey, state, search);
  if (granted.ok) return storeAccount(pages, visit, account, granted.value);
  const { reason, code } = granted.error;
  record(pages, visit, reason === 'denied' ? 'declined' : 'submitted', reason === 'denied' ? undefined : 'refused');
  return { status: reason === 'unreachable' ? 503 : 400, html: renderBack(frame, { reason, code, ...told }) };
}

/** The visit to the link from which she left, if it is she who comes back. */
async function sameVisit(pages: Pages, request: FastifyRequest, { journey }: FoundJourney): Promise<CheckedVisit | PageProblem> {
  const { ticketId, credential, language } = journey;
  const visitor = await pages.identify(request);
  if (!visitor.ok) {
    const here = `connect/${ticketId}`;
    return visitor.error === 'login' ? { reason: 'signed-out', status: 403, here } : { reason: visitor.error, status: visitor.error === 'unavailable' ? 503 : 403 };
  }
  const opened = await pages.interactions.open(ticketId);
  const asked = opened === undefined ? undefined : pages.find(opened.ticket.upstream, opened.ticket.subject.credential, credential);
  if (!isSamePerson({ ...journey, name: '' }, visitor.value.principal)) {
    if (opened !== undefined) pages.audit.record('wrong-person', { principal: visitor.value.principal, upstream: opened.ticket.upstream, credential });
    return { reason: 'wrong-person', status: 403, visitor: visitor.value };
  }
  if (opened === undefined || asked?.isPicked !== true) return { reason: 'not-found', status: 404 };
  return { request, ticketId, visitor: visitor.value, opened, asked, form: {}, language };
}
