/**
 * `/account`: what can be connected at each upstream, before any call too, and what is stored for the
 * visitor: since when, last used, through which clients. From here she connects, replaces and disconnects.
 */
import { disconnect } from '../collect/disconnect.ts';
import { textIn } from '../config/text.ts';
import { secretSlot, type RequiredCredential } from '../gateway/protected-upstream.ts';
import type { Visitor } from '../identity/visitor.ts';
import type { Secret } from '../vault/secrets.ts';
import { csrfToken } from './csrf.ts';
import { renderAccount, type AccountRow } from './person-views.ts';
import type { Frame } from './views.ts';
import type { Asked, Page, Pages } from './visit.ts';

export async function showAccount(pages: Pages, visitor: Visitor, frame: Frame): Promise<Page> {
  const rows = await Promise.all(distinct(pages.all).map((asked) => rowOf(pages, visitor, frame, asked)));
  const { signOut } = pages.links;
  const html = renderAccount(frame, { action: '', csrf: csrfToken(pages, visitor, 'account'), rows, ...(signOut !== undefined && 'action' in signOut ? { signOut } : {}) });
  return { status: 200, html };
}

/** One change. @returns where the browser goes next */
export async function changeAccount(pages: Pages, visitor: Visitor, form: Readonly<Record<string, unknown>>): Promise<string> {
  const asked = pages.find(String(form['upstream']), String(form['credential']));
  if (asked === undefined) return pages.links.account;
  const { principal } = visitor;
  const { upstream, credential } = asked;
  if (form['action'] === 'disconnect') {
    await disconnect(pages, principal, upstream.name, credential);
    return pages.links.account;
  }
  const { ticketId } = await pages.interactions.begin({
    subject: { issuer: principal.issuer, subject: principal.subject, place: credential.place, credential: credential.config.name },
    upstream: upstream.name,
  });
  return pages.links.connect(ticketId);
}

/** A credential that several upstreams share is one row. */
function distinct(all: readonly Asked[]): readonly Asked[] {
  const seen = new Map<string, Asked>();
  for (const asked of all) {
    const key = JSON.stringify([asked.credential.place ?? null, asked.credential.config.name]);
    if (!seen.has(key)) seen.set(key, asked);
  }
  return [...seen.values()];
}

async function rowOf(pages: Pages, visitor: Visitor, frame: Frame, { upstream, credential }: Asked): Promise<AccountRow> {
  const secret = await pages.vault.inspect(secretSlot(visitor.principal, credential));
  const { title, description } = credential.config;
  return {
    upstream: upstream.name,
    credential: credential.config.name,
    server: textIn(upstream.title, frame.language),
    title: textIn(title, frame.language),
    description: description === undefined ? undefined : textIn(description, frame.language),
    destination: credential.destination,
    ...(secret === undefined ? { status: 'none' } : { status: statusOf(secret, credential, pages.now()), since: secret.storedAt, ...(secret.lastUsedAt > secret.storedAt ? { lastUsed: secret.lastUsedAt } : {}), ...endOf(secret, pages.now()), clients: secret.clients }),
  };
}

const soonMs = 7 * 86_400_000;

/** Soon is within a week, or within the last tenth of a shorter life. */
function endOf({ expiresAt, storedAt }: Secret, now: number): Pick<AccountRow, 'until' | 'endsSoon'> {
  if (expiresAt === undefined) return {};
  return { until: expiresAt, endsSoon: expiresAt - now <= Math.min(soonMs, (expiresAt - storedAt) / 10) };
}

/** `outdated`: the file changed what it is or where it goes, so it is asked for again. */
function statusOf(secret: Secret, { config, destination }: RequiredCredential, now: number): 'stored' | 'expired' | 'outdated' | 'rejected' {
  if (secret.isRejected === true) return 'rejected';
  if (secret.expiresAt !== undefined && secret.expiresAt <= now) return 'expired';
  return secret.shape === config.shape && secret.destination === destination ? 'stored' : 'outdated';
}
