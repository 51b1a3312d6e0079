/** Attacks on the account page, the login and their forms (A23). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { returnPath } from '../../src/pages/login-routes.ts';
import { startIdentityProvider, people } from '../kit/identity-provider.ts';
import { planted } from '../kit/planted.ts';
import { startRightPerson, type RightPerson } from '../kit/right-person.ts';
import { createWebVisitor, type WebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const csrfIn = (html: string) => /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';

async function visitor(person: string, { proxy }: RightPerson): Promise<{ readonly web: WebVisitor; readonly csrf: string }> {
  const web = createWebVisitor();
  return { web, csrf: csrfIn((await web.openAs(person, `${proxy.origin}/account`)).html) };
}

test('a form with the token of another person, another session or another page changes nothing (A23)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { proxy } = running;
  const account = `${proxy.origin}/account`;
  const [ada, other, ben] = [await visitor('ada', running), await visitor('ada', running), await visitor('ben', running)];
  const address = await running.link(await running.client('ada'));
  const linkToken = csrfIn((await ada.web.open(address)).html);
  await ada.web.submit(await ada.web.open(address), { token: planted('sk-12345678'), action: 'give' });
  const disconnect = (csrf: string, headers: Readonly<Record<string, string>> = {}) =>
    ada.web.ask(account, { method: 'POST', body: new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action: 'disconnect' }), headers });
  for (const csrf of ['', 'x', ben.csrf, other.csrf, linkToken, `${ada.csrf}x`]) assert.equal((await disconnect(csrf)).status, 403, csrf);
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) assert.equal((await disconnect(ada.csrf, headers)).status, 403, JSON.stringify(headers));
  const onLink = await ada.web.ask(await running.link(await running.client('ada', { client: 'phone' })), { method: 'POST', body: new URLSearchParams({ csrf: ada.csrf, action: 'agree' }) });
  assert.equal(onLink.status, 403, 'the account page’s token at a link');
  assert.equal(proxy.audit.some(({ audit }) => audit === 'revoked' || audit === 'consent'), false);
  assert.equal((await disconnect(ada.csrf)).status, 303);
  assert.deepEqual(proxy.audit.filter(({ audit }) => audit === 'revoked').map(({ subject, upstream, credential }) => [subject, upstream, credential]), [['ada', 'main', 'key']]);
});

test('one person’s account form reaches only what is hers, and unknown names nothing', async (t) => {
  const running = await startRightPerson(t, provider);
  const [ada, ben] = [await visitor('ada', running), await visitor('ben', running)];
  await ada.web.submit(await ada.web.open(await running.link(await running.client('ada'))), { token: planted('sk-12345678'), action: 'give' });
  const send = (fields: Readonly<Record<string, string>>) => ben.web.ask(`${running.proxy.origin}/account`, { method: 'POST', body: new URLSearchParams({ csrf: ben.csrf, ...fields }) });
  const forms = [
    { upstream: 'main', credential: 'key', action: 'disconnect', subject: 'ada', issuer: provider.issuer },
    { upstream: 'main', credential: 'other', action: 'disconnect' },
    { upstream: '__proto__', credential: 'constructor', action: 'connect' },
    { action: 'disconnect' },
    {},
  ];
  for (const form of forms) assert.equal((await send(form)).headers.get('location'), '/account', JSON.stringify(form));
  assert.equal(running.proxy.audit.some(({ audit }) => audit === 'revoked'), false);
  assert.match((await ada.web.open(`${running.proxy.origin}/account`)).html, /value="disconnect"/);
});

test('every page of a logged-in person carries the headers that keep it from being framed, scripted, kept or told of (A23)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { proxy, link, client } = running;
  const { web } = await visitor('ada', running);
  const address = await link(await client('ada'));
  const entry = await web.open(address);
  const pages = {
    account: await web.open(`${proxy.origin}/account`),
    entry,
    wrongPerson: await web.open(await link(await client('ben'))),
    stored: await web.submit(entry, { token: planted('sk-12345678'), action: 'give' }),
    consent: await web.open(await link(await client('ada', { client: 'phone' }))),
    login: await web.ask(`${proxy.origin}/auth/login`),
    staleLogin: await web.ask(`${proxy.origin}/auth/callback?state=x&code=y`),
    signedOut: await createWebVisitor().ask(`${proxy.origin}/auth/logout`, { method: 'POST' }),
    noAccount: await createWebVisitor().ask(`${proxy.origin}/account`),
  };
  assert.deepEqual(Object.values(pages).map(({ status }) => status), [200, 200, 403, 200, 200, 303, 400, 200, 303]);
  for (const [name, { headers }] of Object.entries(pages)) {
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) assert.ok(policy.includes(part), `${name} ${part}`);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/, name);
    const others = ['cache-control', 'referrer-policy', 'x-content-type-options', 'x-frame-options', 'cross-origin-opener-policy'].map((header) => headers.get(header));
    assert.deepEqual(others, ['no-store', 'no-referrer', 'nosniff', 'DENY', 'same-origin'], name);
    assert.equal(headers.get('access-control-allow-origin'), null, name);
  }
});

test('a claim that wants to be markup stays a text on every page that names her (A23)', async (t) => {
  const hostile = '"><script>alert(1)</script>\u202e<img src=x onerror=alert(2)>';
  Object.assign(people, { mallory: hostile });
  const running = await startRightPerson(t, provider);
  const { web } = await visitor('mallory', running);
  for (const page of [await web.open(`${running.proxy.origin}/account`), await web.open(await running.link(await running.client('mallory'))), await web.open(await running.link(await running.client('ada')))]) {
    assert.match(page.html, /&lt;script&gt;alert\(1\)/);
    assert.doesNotMatch(page.html, /<script|<img src=x|\u202e/);
  }
});

/** Fifty: ten addresses that are not ours, in five wrappings. */
const elsewhere = ['//evil.example', '/\\evil.example', '\\\\evil.example', 'https://evil.example', 'https:evil.example', '/\t/evil.example', '\u0001//evil.example', 'javascript:alert(1)', 'data:text/html,x', '@evil.example']
  .flatMap((target) => [target, `account${target}`, `connect/${target}`, `../${target}`, `account?next=${target}`]);

test('fifty return addresses that lead elsewhere lead to the account page; only our own pages are taken (A23)', async (t) => {
  for (const target of [...elsewhere, '', 'auth/logout', 'connect/', 'connect/a/b', 'account\r\nSet-Cookie: a=b', 'account\n', ['account'], undefined, { account: 1 }]) assert.equal(returnPath(target), 'account', JSON.stringify(target));
  assert.equal(returnPath('connect/a-B_9'), 'connect/a-B_9');
  const { proxy } = await startRightPerson(t, provider);
  const ada = createWebVisitor();
  for (const query of ['', '?return=//evil.example', '?return=account&return=//evil.example', '?return=connect/..%2f..%2fevil']) {
    const ended = await ada.ask(await ada.callbackFor('ada', `${proxy.origin}/auth/login${query}`));
    assert.deepEqual([ended.status, ended.headers.get('location')], [303, '/account'], query);
  }
});
