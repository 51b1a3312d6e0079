/**
 * A2, A3, A5: whoever began is whoever finishes, in the same browser and login session, and this is checked
 * before the code is redeemed. A real provider logs people in, another one is the third party.
 */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { addressOfThird, headingOf, logInAtThird } from '../kit/account-setup.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startRightPerson } from '../kit/right-person.ts';
import { startThirdParty } from '../kit/third-party.ts';
import { createWebVisitor, type WebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
const third = await startThirdParty();
after(() => Promise.all([provider.close(), third.close()]));

async function start(t: TestContext) {
  const file = `credentials: { box: { kind: oauth, title: Box, issuer: "${third.issuer}", ${third.client}, scopes: [read], inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [box] }] } }`;
  const running = await startRightPerson(t, provider, { file });
  const link = async (person: string) => running.link(await running.client(person));
  /** Her page is open, and she is about to leave. */
  const leaving = async (visitor: WebVisitor, person: string, address: string) => {
    await visitor.openAs(person, address);
    return addressOfThird(visitor, address);
  };
  const audit = () => running.proxy.audit.map((line) => line.audit);
  return { ...running, linkFor: link, leaving, audit };
}

/** Goes to the third party and logs in there, up to where it sends people back, which is not opened. */
async function callbackFor(address: string, person: string): Promise<string> {
  const stranger = createWebVisitor();
  const form = await stranger.open(address);
  const ended = await stranger.submit(form, { login: person, password: 'x' });
  return ended.way.find((url) => url.includes('/oauth/callback')) ?? '';
}

const redeemed = () => third.tokenRequests('authorization_code').length;

test('the owner connects; the same callback a second time, in any browser, is a page that says so (A3)', async (t) => {
  const { linkFor, leaving, audit } = await start(t);
  const ada = createWebVisitor();
  const address = await leaving(ada, 'ada', await linkFor('ada'));
  const done = await logInAtThird(ada, await ada.open(address));
  assert.equal(headingOf(done), 'Box is connected');
  const callback = done.way.find((url) => url.includes('/oauth/callback')) ?? '';
  const before = redeemed();
  const ben = createWebVisitor();
  await ben.openAs('ben', new URL('/account', callback).href);
  for (const visitor of [ada, ben, createWebVisitor()]) {
    const page = await visitor.open(callback);
    assert.deepEqual([page.status, headingOf(page)], [400, 'This attempt is no longer valid']);
  }
  assert.equal(redeemed(), before);
  assert.equal(audit().filter((event) => event === 'stored').length, 1);
});

test('a phisher who passes our page and hands the authorize address to another person gets nothing of hers (A2)', async (t) => {
  const { linkFor, leaving, audit, proxy } = await start(t);
  const phisher = createWebVisitor();
  const address = await leaving(phisher, 'ben', await linkFor('ben'));
  const before = redeemed();
  // Ada is logged in here, opens the address, logs in at the third party as herself and is sent back.
  const ada = createWebVisitor();
  await ada.openAs('ada', `${proxy.origin}/account`);
  const page = await logInAtThird(ada, await ada.open(address), 'ada-at-third');
  assert.deepEqual([page.status, headingOf(page)], [400, 'This attempt is no longer valid']);
  assert.equal(redeemed(), before, 'the code never reaches the token endpoint');
  assert.equal(audit().includes('stored'), false);
});

test('with the phisher’s cookie planted in her browser it is the wrong person, and his link stays good (A2, A3)', async (t) => {
  const { linkFor, leaving, audit, proxy } = await start(t);
  const phisher = createWebVisitor();
  const link = await linkFor('ben');
  const address = await leaving(phisher, 'ben', link);
  const before = redeemed();
  const ada = createWebVisitor();
  await ada.openAs('ada', `${proxy.origin}/account`);
  for (const [name, value] of phisher.cookies) if (name.startsWith('elicitgate-journey-')) ada.cookies.set(name, value);
  const page = await logInAtThird(ada, await ada.open(address), 'ada-at-third');
  assert.deepEqual([page.status, headingOf(page)], [403, 'This link is for another account']);
  assert.equal(page.html.includes('Ben'), false);
  assert.equal(redeemed(), before);
  assert.deepEqual(proxy.audit.slice(-1).map(({ audit: event, subject, credential }) => [event, subject, credential]), [['wrong-person', 'ada', 'box']]);
  const own = await logInAtThird(phisher, await phisher.open(address), 'ben-at-third');
  assert.equal(headingOf(own), 'Box is connected');
  assert.equal(audit().filter((event) => event === 'stored').length, 1);
});

test('a journey belongs to the login session in which it began: another login of the same browser does not finish it', async (t) => {
  const { linkFor, leaving, proxy } = await start(t);
  const ada = createWebVisitor();
  const address = await leaving(ada, 'ada', await linkFor('ada'));
  const before = redeemed();
  await ada.open(`${proxy.origin}/auth/login?return=account`);
  const page = await logInAtThird(ada, await ada.open(address));
  assert.deepEqual([page.status, headingOf(page)], [400, 'This attempt is no longer valid']);
  assert.equal(redeemed(), before);
});

test('somebody who is logged out meanwhile is told so, and nothing is redeemed', async (t) => {
  const { linkFor, leaving } = await start(t);
  const ada = createWebVisitor();
  const link = await linkFor('ada');
  const address = await leaving(ada, 'ada', link);
  const before = redeemed();
  ada.cookies.delete('elicitgate-session');
  const page = await logInAtThird(ada, await ada.open(address));
  assert.deepEqual([page.status, headingOf(page)], [403, 'This sign-in is no longer valid']);
  assert.match(page.html, new RegExp(`return=connect%2F${new URL(link).pathname.split('/').at(-1) ?? ''}`));
  assert.equal(redeemed(), before);
});

test('without its cookie, late, guessed, doubled or bent, a state is one that does not exist (A3, A5)', async (t) => {
  const { linkFor, leaving, proxy } = await start(t);
  const ada = createWebVisitor();
  const address = await leaving(ada, 'ada', await linkFor('ada'));
  const callback = new URL(await callbackFor(address, 'ada-at-third'));
  const state = callback.searchParams.get('state') ?? '';
  const before = redeemed();
  const name = `elicitgate-journey-${state.slice(0, 12)}`;
  const cookie = ada.cookies.get(name) ?? '';
  const variants = [
    callback.href.replace(state, state.slice(1)),
    callback.href.replace(state, `${state}=`),
    callback.href.replace(state, 'guessed'),
    `${callback.href}&state=${state}`,
    callback.href.replace(/state=[^&]*/, ''),
    `${callback.origin}/oauth/callback`,
    `${callback.origin}/oauth/callback?state[]=${state}&code=x`,
  ];
  for (const variant of variants) {
    const page = await ada.open(variant);
    assert.deepEqual([page.status, headingOf(page)], [400, 'This attempt is no longer valid'], variant);
  }
  ada.cookies.set(name, `${cookie.slice(0, -1)}A`);
  assert.equal(headingOf(await ada.open(callback.href)), 'This attempt is no longer valid');
  ada.cookies.delete(name);
  assert.equal(headingOf(await ada.open(callback.href)), 'This attempt is no longer valid');
  ada.cookies.set(name, cookie);
  proxy.pass(600_001);
  assert.equal(headingOf(await ada.open(callback.href)), 'This attempt is no longer valid');
  assert.equal(redeemed(), before);
});

test('of fifty returns at once one is redeemed', async (t) => {
  const { linkFor, leaving, audit } = await start(t);
  const ada = createWebVisitor();
  const address = await leaving(ada, 'ada', await linkFor('ada'));
  const callback = await callbackFor(address, 'ada-at-third');
  const before = redeemed();
  const pages = await Promise.all(Array.from({ length: 50 }, () => ada.ask(callback)));
  assert.equal(pages.filter((page) => headingOf(page) === 'Box is connected').length, 1);
  assert.equal(redeemed() - before, 1);
  assert.equal(audit().filter((event) => event === 'stored').length, 1);
});

test('a code of another journey of hers does not fit: PKCE and state belong together', async (t) => {
  const { linkFor, leaving, audit } = await start(t);
  const ada = createWebVisitor();
  const link = await linkFor('ada');
  const [first, second] = [await leaving(ada, 'ada', link), await leaving(ada, 'ada', link)];
  const [one, two] = [new URL(await callbackFor(first, 'ada-at-third')), new URL(await callbackFor(second, 'ben-at-third'))];
  one.searchParams.set('code', two.searchParams.get('code') ?? '');
  const page = await ada.open(one.href);
  assert.deepEqual([page.status, headingOf(page)], [400, 'Connecting did not work']);
  assert.equal(audit().includes('stored'), false);
});

test('what one person connected serves nobody else', async (t) => {
  const { linkFor, leaving, client, upstream } = await start(t);
  const ada = createWebVisitor();
  assert.equal(headingOf(await logInAtThird(ada, await ada.open(await leaving(ada, 'ada', await linkFor('ada'))))), 'Box is connected');
  const answer = await (await client('ben')).call('paid');
  assert.equal(answer.message.error?.code, -32042);
  assert.equal(upstream.requests.some((request) => request.header('authorization') !== undefined), false);
});
