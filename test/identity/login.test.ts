/** Login of people in the browser, at a real provider: how it begins, how it ends, and how long it lasts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startIngress } from '../kit/ingress.ts';
import { planted } from '../kit/planted.ts';
import { startRightPerson } from '../kit/right-person.ts';
import { createWebVisitor, type Opened } from '../kit/web-visitor.ts';

const publicUrl = 'https://mcp.example.com';
const provider = await startIdentityProvider({ redirectUris: [`${publicUrl}/auth/callback`, `${publicUrl}/base/pages/auth/callback`] });
after(() => provider.close());

const minutes = (count: number) => count * 60_000;
const signedInAs = (page: Opened) => /Signed in as <b><bdi>([^<]*)/.exec(page.html)?.[1];
const headingOf = (page: Opened) => /<h1>([^<]*)/.exec(page.html)?.[1];
const retryIn = (page: Opened) => new URL((/href="([^"]*\/auth\/login[^"]*)"/.exec(page.html)?.[1] ?? '').replaceAll('&amp;', '&'), page.url).href;

test('a login asks with state, nonce, PKCE and language, and its cookies are out of reach of scripts', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const ada = createWebVisitor();
  const begun = await ada.ask(`${proxy.origin}/auth/login?return=account&lang=de`);
  const asked = new URL(begun.headers.get('location') ?? '');
  const { state = '', nonce = '', code_challenge: challenge = '', ...rest } = Object.fromEntries(asked.searchParams);
  assert.deepEqual([begun.status, asked.origin + asked.pathname], [303, `${provider.issuer}/auth`]);
  assert.deepEqual(rest, { redirect_uri: `${proxy.origin}/auth/callback`, scope: 'openid profile', code_challenge_method: 'S256', ui_locales: 'de', client_id: 'elicitgate', response_type: 'code' });
  for (const random of [state, nonce, challenge]) assert.match(random, /^[\w-]{43}$/);
  const callback = await ada.callbackFor('ada', begun.headers.get('location') ?? '');
  const ended = await ada.ask(callback);
  const cookies = ended.headers.getSetCookie();
  assert.equal(ended.headers.get('location'), '/account');
  assert.match(begun.headers.getSetCookie()[0] ?? '', new RegExp(`^elicitgate-login-${state.slice(0, 12)}=[\\w-]{43}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax$`));
  assert.match(cookies.find((line) => line.startsWith('elicitgate-session=')) ?? '', /^elicitgate-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  assert.match(cookies.find((line) => line.startsWith('elicitgate-login-')) ?? '', /^elicitgate-login-[\w-]{12}=; Max-Age=0; Path=\/; /);
});

test('behind TLS that ends in front, cookies are Secure and __Host-, and everything comes back to publicUrl (O1, O2)', async (t) => {
  const ingress = await startIngress({ headersOf: () => ({}), host: 'mcp.example.com' });
  t.after(() => ingress.close());
  const file = `server: { listen: "\${LISTEN}", publicUrl: "${publicUrl}/base", pagesPath: /pages, admin: false, drain: 1s }`;
  const { proxy } = await startRightPerson(t, provider, { file });
  ingress.passTo(proxy.origin);
  const ada = createWebVisitor();
  const account = await ada.ask(`${ingress.origin}/base/pages/account`);
  assert.deepEqual([account.status, account.headers.get('location'), account.headers.get('strict-transport-security')], [303, '/base/pages/auth/login?return=account', 'max-age=31536000']);
  const callback = new URL(await ada.callbackFor('ada', `${ingress.origin}/base/pages/auth/login?return=account`));
  assert.equal(callback.origin + callback.pathname, `${publicUrl}/base/pages/auth/callback`);
  const ended = await ada.ask(ingress.origin + callback.pathname + callback.search);
  assert.equal(ended.headers.get('location'), '/base/pages/account');
  assert.match(ended.headers.getSetCookie().find((line) => line.startsWith('__Host-elicitgate-session=')) ?? '', /; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const page = await ada.open(`${ingress.origin}/base/pages/account`);
  assert.equal(signedInAs(page), 'Ada Lovelace');
  assert.match(page.html, /action="\/base\/pages\/auth\/logout"/);
});

test('a login that is cancelled says so, and trying again leads to the same link', async (t) => {
  const { link, client, proxy } = await startRightPerson(t, provider);
  const address = await link(await client('ada'));
  const ada = createWebVisitor();
  const form = await ada.open(address);
  const cancel = /href="([^"]*\/abort)"/.exec(form.html)?.[1] ?? '';
  const page = await ada.open(cancel);
  assert.deepEqual([page.status, headingOf(page)], [400, 'You are not signed in']);
  const again = await ada.openAs('ada', retryIn(page));
  assert.deepEqual([again.url, again.status, signedInAs(again)], [address, 200, 'Ada Lovelace']);
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked', 'login', 'opened']);
});

test('a provider that goes away in the middle of a login is told as such; an answer that does not hold too', async (t) => {
  const own = await startIdentityProvider();
  t.after(() => own.close());
  const { proxy, link, client } = await startRightPerson(t, own);
  const address = await link(await client('ada'));
  const ada = createWebVisitor();
  const callback = await ada.callbackFor('ada', address);
  own.setReachable(false);
  const away = await ada.ask(callback);
  assert.deepEqual([away.status, headingOf(away)], [503, 'Signing in is not possible at the moment']);
  assert.match(retryIn(away), /return=connect%2F/);
  own.setReachable(true);
  const second = new URL(await ada.callbackFor('ada', address));
  second.searchParams.set('code', 'guessed');
  const wrong = await ada.ask(second.href);
  assert.deepEqual([wrong.status, headingOf(wrong)], [400, 'The sign-in did not work']);
  const third = new URL(await ada.callbackFor('ada', address));
  third.searchParams.set('iss', 'https://other.example');
  assert.equal(headingOf(await ada.ask(third.href)), 'The sign-in did not work', 'an answer of another issuer (RFC 9207)');
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked']);
  assert.equal(proxy.log.join('').includes('guessed'), false);
});

test('two tabs log in at once, each into its own transaction, in any order (O6)', async (t) => {
  const { link, client } = await startRightPerson(t, provider);
  const desk = await client('ada');
  const addresses = [await link(desk), await link(desk)];
  const ada = createWebVisitor();
  const callbacks = [];
  for (const address of addresses) callbacks.push(await ada.callbackFor('ada', address));
  for (const at of [1, 0]) assert.equal((await ada.open(callbacks[at] ?? '')).url, addresses[at]);
});

test('a session ends after 30 minutes without a visit, and after 8 hours in any case', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const account = `${proxy.origin}/account`;
  const ada = createWebVisitor();
  await ada.openAs('ada', account);
  const status = async () => (await ada.ask(account)).status;
  proxy.pass(minutes(29));
  assert.equal(await status(), 200);
  proxy.pass(minutes(29));
  assert.equal(await status(), 200, 'a visit begins the half hour anew');
  proxy.pass(minutes(31));
  assert.equal(await status(), 303);
  const ben = createWebVisitor();
  await ben.openAs('ben', account);
  for (let passed = 0; passed < 8 * 60 - 20; passed += 20) {
    proxy.pass(minutes(20));
    assert.equal((await ben.ask(account)).status, 200, `after ${passed + 20} minutes`);
  }
  proxy.pass(minutes(20));
  assert.equal((await ben.ask(account)).status, 303);
});

test('each login makes a new session, the one before is over, and logging out ends it at once', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const account = `${proxy.origin}/account`;
  const ada = createWebVisitor();
  ada.cookies.set('elicitgate-session', 'planted-by-somebody-else');
  const page = await ada.openAs('ada', account);
  const first = ada.cookies.get('elicitgate-session') ?? '';
  assert.notEqual(first, 'planted-by-somebody-else');
  await ada.open(`${proxy.origin}/auth/login?return=account`);
  const second = ada.cookies.get('elicitgate-session') ?? '';
  assert.notEqual(second, first);
  const withCookie = async (cookie: string) => (await fetch(account, { redirect: 'manual', headers: { cookie: `elicitgate-session=${cookie}` } })).status;
  assert.deepEqual([await withCookie(first), await withCookie(second)], [303, 200]);

  const logOut = (csrf: string, headers: Readonly<Record<string, string>> = {}) => ada.ask(`${proxy.origin}/auth/logout`, { method: 'POST', body: new URLSearchParams({ csrf }), headers });
  assert.equal((await ada.ask(`${proxy.origin}/auth/logout`)).status, 404, 'no link logs anybody out');
  assert.equal((await logOut('', { origin: 'https://evil.example' })).status, 403);
  const stale = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  for (const csrf of ['', 'x', stale]) assert.equal((await logOut(csrf)).headers.get('location'), '/account', 'a form of the session before');
  assert.equal(await withCookie(second), 200);
  const fresh = await ada.open(account);
  const out = await ada.ask(`${proxy.origin}/auth/logout`, { method: 'POST', body: new URLSearchParams({ csrf: [...fresh.html.matchAll(/name="csrf" value="([^"]*)"/g)].at(-1)?.[1] ?? '' }) });
  assert.deepEqual([out.status, headingOf(out), ada.cookies.get('elicitgate-session')], [200, 'You are signed out', undefined]);
  assert.equal(await withCookie(second), 303);
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['login', 'login', 'logout']);
});

test('“not you?” asks for the account again although the provider knows one', async (t) => {
  const { proxy } = await startRightPerson(t, provider);
  const person = createWebVisitor();
  const page = await person.openAs('ada', `${proxy.origin}/account`);
  assert.equal(signedInAs(await person.open(`${proxy.origin}/auth/login?return=account`)), 'Ada Lovelace', 'an ordinary login does not ask again');
  const switchUrl = new URL((/href="([^"]*switch=1)"/.exec(page.html)?.[1] ?? '').replaceAll('&amp;', '&'), proxy.origin).href;
  const before = person.cookies.get('elicitgate-session') ?? '';
  const form = await person.open(switchUrl);
  assert.match(form.html, /name="login"/);
  const other = await person.submit(form, { login: 'ben', password: 'x' });
  assert.equal(signedInAs(other), 'Ben Ali');
  assert.equal((await fetch(`${proxy.origin}/account`, { redirect: 'manual', headers: { cookie: `elicitgate-session=${before}` } })).status, 303);
});

test('a form that comes after the session has ended says so and leads back to its link; nothing is stored', async (t) => {
  const { proxy, link, client } = await startRightPerson(t, provider);
  const address = await link(await client('ada'));
  const ada = createWebVisitor();
  const page = await ada.openAs('ada', address);
  proxy.pass(minutes(29));
  await link(await client('ada'));
  proxy.pass(minutes(2));
  const late = await ada.submit(page, { token: planted('sk-12345678'), action: 'give' });
  assert.deepEqual([late.status, headingOf(late)], [403, 'This sign-in is no longer valid']);
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
  assert.equal((await ada.openAs('ada', retryIn(late))).url, address);
});

test('with pairwise subjects the login finds the person by the claim that is the same everywhere, and without it nobody is', async (t) => {
  const pairwise = await startIdentityProvider({ isPairwise: true });
  t.after(() => pairwise.close());
  const statusOf = async (oauth: string) => {
    const { link, client } = await startRightPerson(t, pairwise, { oauth });
    return (await createWebVisitor().openAs('ada', await link(await client('ada')))).status;
  };
  assert.equal(await statusOf('subjectClaim: uid'), 200);
  assert.equal(await statusOf('subjectClaim: sub'), 403, 'the client and the login know her by two subjects');
});
