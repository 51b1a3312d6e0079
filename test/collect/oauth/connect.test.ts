/** Connecting an account at a real third party: the whole way, and what is kept of it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addressOfThird, goThrough, headingOf, logInAtThird, startAccount } from '../../kit/account-setup.ts';
import { startThirdParty } from '../../kit/third-party.ts';

const third = await startThirdParty();
after(() => third.close());
const account = `issuer: "${third.issuer}", ${third.client}, scopes: [openid, read]`;
const unescaped = (html: string) => html.replaceAll('&#39;', "'").replaceAll('&amp;', '&');

test('a call asks for the account, the person connects it, and the next call carries her token', async (t) => {
  const { client, connect, tokens, proxy } = await startAccount(t, { account });
  const done = await connect();
  assert.equal(headingOf(done), 'Box is connected');
  assert.match((await client.call('paid')).text, /"paid"/);
  const [sent] = tokens();
  const token = sent?.replace('Bearer ', '') ?? '';
  assert.deepEqual(await third.check(token), { person: 'ada-at-third', scopes: ['openid', 'read'], audience: undefined });
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked', 'opened', 'left', 'stored', 'used']);
  assert.equal(proxy.log.join('').includes(token), false);
});

test('the page names provider, permissions, person and destination before anyone leaves, and its form may go there alone', async (t) => {
  const { ada, link, upstream } = await startAccount(t, { account });
  const page = await ada.open(await link());
  const facts = [...page.html.matchAll(/<d[td]>(.*?)<\/d[td]>/gs)].map(([, text = '']) => text.replaceAll(/<[^>]+>/g, '').trim());
  assert.deepEqual(facts.slice(0, 4), ['You go to', third.issuer, 'Permissions', 'openid']);
  for (const fact of ['read', 'ada', new URL(upstream.url).origin]) assert.ok(facts.includes(fact), fact);
  const host = new URL(third.issuer).host;
  assert.match(page.html, new RegExp(`<button class="main" name="action" value="give">Continue to ${host}</button>`));
  assert.match(page.headers.get('content-security-policy') ?? '', new RegExp(`form-action 'self' ${third.issuer} https:;`));
});

test('she is sent there with PKCE S256, state, nonce, our redirect address and what the file adds, and with nothing secret', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: `${account}, authorizationParams: { prompt: consent }, resource: "https://api.example.com/v1"` });
  const address = new URL(await addressOfThird(ada, await link()));
  const { state = '', nonce = '', code_challenge: challenge = '', ...rest } = Object.fromEntries(address.searchParams);
  assert.deepEqual(rest, {
    client_id: 'gate',
    response_type: 'code',
    redirect_uri: `${proxy.origin}/oauth/callback`,
    scope: 'openid read',
    code_challenge_method: 'S256',
    prompt: 'consent',
    resource: 'https://api.example.com/v1',
  });
  for (const random of [state, nonce, challenge]) assert.match(random, /^[\w-]{43}$/);
});

test('the cookie of her journey is for this browser alone, lasts ten minutes and is gone afterwards', async (t) => {
  const { ada, link } = await startAccount(t, { account });
  const page = await ada.open(await link());
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  const sent = await ada.ask(page.url, { method: 'POST', body: new URLSearchParams({ csrf, action: 'give' }), headers: { origin: new URL(page.url).origin } });
  const state = new URL(sent.headers.get('location') ?? '').searchParams.get('state') ?? '';
  assert.match(sent.headers.getSetCookie()[0] ?? '', new RegExp(`^elicitgate-journey-${state.slice(0, 12)}=[\\w-]{43}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax$`));
  const done = await logInAtThird(ada, await ada.open(sent.headers.get('location') ?? ''));
  assert.equal(headingOf(done), 'Box is connected');
  assert.equal([...ada.cookies.keys()].some((name) => name.startsWith('elicitgate-journey-')), false);
});

test('tokens are asked for with `resource` in both requests and are for it alone', async (t) => {
  const { client, connect, tokens } = await startAccount(t, { account: `${account}, resource: "https://api.example.com/v1"` });
  const before = third.tokenRequests('authorization_code').length;
  await connect();
  assert.equal(third.tokenRequests('authorization_code')[before]?.get('resource'), 'https://api.example.com/v1');
  await client.call('paid');
  assert.equal((await third.check(tokens()[0]?.replace('Bearer ', '') ?? ''))?.audience, 'https://api.example.com/v1');
});

test('whoever says no at the third party is told so, nothing is stored, and the link leads on', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account });
  const address = await link();
  const page = await ada.open(address);
  const login = await ada.submit(page, { action: 'give' });
  const cancelled = await ada.open(new URL(/href="([^"]*\/abort)"/.exec(login.html)?.[1] ?? '', login.url).href);
  assert.deepEqual([cancelled.status, headingOf(cancelled)], [400, 'Nothing was connected']);
  const retry = unescaped(/<a class="button main" href="([^"]*)"/.exec(cancelled.html)?.[1] ?? '');
  assert.equal(retry, `${address}?lang=en`);
  assert.equal(headingOf(await goThrough(ada, retry)), 'Box is connected');
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked', 'opened', 'left', 'declined', 'left', 'stored']);
});

test('"not now" and an expired link work as they do for a key', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account });
  const address = await link();
  const declined = await ada.submit(await ada.open(address), { action: 'decline' });
  assert.equal(headingOf(declined), 'All right, not now');
  proxy.pass(31 * 60_000);
  const expired = await ada.open(address);
  assert.equal(headingOf(expired), 'This link has expired');
  assert.equal(headingOf(await ada.submit(expired, { action: 'renew' })), 'Connect Box');
});

test('two tabs are two journeys, in any order; coming back a second time changes nothing (O6)', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account });
  const [first, second] = [await addressOfThird(ada, await link()), await addressOfThird(ada, await link())];
  const ended = await logInAtThird(ada, await ada.open(second));
  assert.equal(headingOf(ended), 'Box is connected');
  const callback = ended.way.find((url) => url.includes('/oauth/callback')) ?? '';
  const again = await ada.open(callback);
  assert.deepEqual([again.status, headingOf(again)], [400, 'This attempt is no longer valid']);
  assert.equal(headingOf(await logInAtThird(ada, await ada.open(first))), 'Box is connected');
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'stored').length, 2);
});

test('the pages of a journey speak the language that was chosen', async (t) => {
  const { ada, link } = await startAccount(t, { account });
  const page = await ada.open(`${await link()}?lang=de`);
  const done = await logInAtThird(ada, await ada.submit(page, { action: 'give' }));
  assert.equal(headingOf(done), 'Box ist verbunden');
});

test('she can connect and replace it on her account page, and a second connection takes the place of the first', async (t) => {
  const { ada, proxy, client, tokens } = await startAccount(t, { account });
  const viaAccount = async () => {
    const page = await ada.open(`${proxy.origin}/account`);
    return logInAtThird(ada, await ada.submit(await ada.submit(page, { action: 'connect' }), { action: 'give' }));
  };
  assert.equal(headingOf(await viaAccount()), 'Box is connected');
  await client.call('paid');
  const replacing = await ada.submit(await ada.open(`${proxy.origin}/account`), { action: 'connect' });
  assert.match(replacing.html, /You have connected this before\. The new connection takes the place of the old one\./);
  await viaAccount();
  await client.call('paid');
  assert.notEqual(tokens()[0], tokens()[1]);
});

test('a third party that cannot be reached is told as such before anyone leaves, and nobody is sent anywhere', async (t) => {
  const gone = await startThirdParty();
  await gone.close();
  const { ada, link, proxy } = await startAccount(t, { account: `issuer: "${gone.issuer}", ${gone.client}` });
  const page = await ada.open(await link());
  assert.deepEqual([page.status, headingOf(page)], [503, 'Connecting is not possible at the moment']);
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked', 'opened']);
});

test('a client without the proof that the third party wants is found out before anyone leaves (O7)', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: `issuer: "${third.issuer}", clientId: gate, scopes: [read]`, file: '' });
  // oidc-provider takes public clients too, so its list is cut for this one.
  const strict = await startThirdParty({ with: { clientAuthMethods: ['client_secret_basic'] } });
  t.after(() => strict.close());
  const other = await startAccount(t, { account: `issuer: "${strict.issuer}", clientId: gate, scopes: [read]` });
  const page = await other.ada.open(await other.link());
  assert.deepEqual([page.status, headingOf(page)], [500, 'This cannot be connected yet']);
  assert.match(other.proxy.log.join(''), /the file has neither clientSecret nor clientAuth/);
  assert.equal(headingOf(await ada.open(await link())), 'Connect Box');
  assert.equal(proxy.audit.some(({ audit }) => audit === 'left'), false);
});
