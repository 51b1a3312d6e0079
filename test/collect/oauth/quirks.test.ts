/** Third parties as they are: without discovery, form-encoded, with commas, errors under status 200 and HTML pages. */
import assert from 'node:assert/strict';
import { after, afterEach, test, type TestContext } from 'node:test';
import { addressOfThird, headingOf, startAccount } from '../../kit/account-setup.ts';
import { form, jsonAnswer, startQuirkyProvider, type QuirkyAnswer } from '../../kit/quirky-provider.ts';

const quirky = await startQuirkyProvider();
after(() => quirky.close());
afterEach(() => {
  quirky.answerTokens(undefined);
  quirky.sendBackWith({});
});

async function callbackOf(t: TestContext, answer: QuirkyAnswer | undefined, account = quirky.account) {
  const running = await startAccount(t, { account });
  quirky.answerTokens(answer === undefined ? undefined : () => answer);
  return { ...running, page: await running.connect() };
}

test('endpoints named in the file need no discovery; scopes go with commas, the secret in the body, PKCE always', async (t) => {
  const { page } = await callbackOf(t, undefined);
  assert.equal(headingOf(page), 'Box is connected');
  assert.deepEqual(quirky.requests.map(({ path }) => path), ['/authorize', '/token']);
  const [authorize, token] = quirky.requests;
  assert.equal(authorize?.query.get('scope'), 'repo,read:user');
  assert.equal(authorize?.query.get('code_challenge_method'), 'S256');
  assert.deepEqual([token?.body.get('client_id'), token?.body.get('client_secret'), token?.authorization], ['gate', 'quirky-secret', undefined]);
  assert.match(token?.body.get('code_verifier') ?? '', /^[\w-]{43}$/);
});

test('a second consent without a refresh token is a connection all the same, until its token ends', async (t) => {
  const { page, client, proxy, tokens } = await callbackOf(t, undefined);
  assert.equal(headingOf(page), 'Box is connected');
  assert.match((await client.call('paid')).text, /"paid"/);
  assert.match(tokens()[0] ?? '', /^Bearer quirky-access-\d$/);
  proxy.pass(3_600_001);
  assert.equal((await client.call('paid')).message.error?.code, -32042);
});

test('an error under status 200 is an error, and its words stay away from page and log', async (t) => {
  const { page, proxy } = await callbackOf(t, form({ error: 'bad_verification_code', error_description: 'The <b>code</b> & more' }));
  assert.deepEqual([page.status, headingOf(page)], [400, 'Connecting did not work']);
  assert.match(page.html, /The answer was: bad_verification_code/);
  assert.equal(/<b>code|The &lt;b|more/.test(page.html), false);
  assert.equal(proxy.log.join('').includes('& more'), false);
});

test('what a server calls its token, its scopes and its seconds does not matter', async (t) => {
  for (const answer of [
    jsonAnswer({ ok: true, access_token: 'odd-1', token_type: 'user', scope: 'a,b' }),
    jsonAnswer({ access_token: 'odd-2', scope: ['a', 'b'], expires_in: '3600', refresh_token: null, id_token: null }),
    jsonAnswer({ access_token: 'odd-3', token_type: 'BEARER', expires_in: 0 }, 201),
    { type: 'text/plain', body: 'access_token=odd-4&token_type=bearer' },
  ]) {
    const { page, client, tokens } = await callbackOf(t, answer);
    assert.equal(headingOf(page), 'Box is connected', answer.body);
    await client.call('paid');
    assert.match(tokens()[0] ?? '', /^Bearer odd-\d$/);
  }
});

for (const [name, answer, expected] of [
  ['an HTML page with 400', { status: 400, type: 'text/html', body: '<h1>Bad</h1>' }, [400, 'Connecting did not work']],
  ['an HTML page with 200', { status: 200, type: 'text/html', body: '<h1>Hello</h1>' }, [400, 'Connecting did not work']],
  ['JSON of another kind', jsonAnswer([]), [400, 'Connecting did not work']],
  ['a 500', { status: 500, type: 'text/html', body: 'oops' }, [503, 'Connecting is not possible at the moment']],
  ['an answer that is far too large', { type: 'application/json', body: `{"access_token":"${'x'.repeat(2_000_000)}"}` }, [503, 'Connecting is not possible at the moment']],
] as const) {
  test(`${name} is told as what it is, and nothing is stored`, async (t) => {
    const { page, proxy, link, ada } = await callbackOf(t, answer);
    assert.deepEqual([page.status, headingOf(page)], expected);
    assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
    quirky.answerTokens(undefined);
    const address = await addressOfThird(ada, await link());
    assert.equal(headingOf(await ada.open(address)), 'Box is connected', 'she can simply try again');
  });
}

test('error answers of every kind end on a page that says what happened, with one word of theirs at most', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: quirky.account });
  for (const [error, status, heading] of [
    ['access_denied', 400, 'Nothing was connected'],
    ['consent_required', 400, 'Nothing was connected'],
    ['invalid_scope', 400, 'Connecting did not work'],
    ['temporarily_unavailable', 503, 'Connecting is not possible at the moment'],
    ['server_error', 503, 'Connecting is not possible at the moment'],
    ['<script>alert(1)</script>', 400, 'Connecting did not work'],
  ] as const) {
    quirky.sendBackWith({ code: undefined, error, error_description: '<img src=x> Visit evil.example' });
    const page = await ada.open(await addressOfThird(ada, await link()));
    assert.deepEqual([page.status, headingOf(page)], [status, heading], error);
    assert.equal(/script>|img|evil/.test(page.html), false);
  }
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
  assert.equal(/evil|script/.test(proxy.log.join('')), false);
});

test('a provider that the file gives no issuer may only call itself by its own origin (RFC 9207)', async (t) => {
  const { ada, link } = await startAccount(t, { account: quirky.account });
  quirky.sendBackWith({ iss: 'https://other.example' });
  const before = quirky.requests.filter(({ path }) => path === '/token').length;
  assert.equal(headingOf(await ada.open(await addressOfThird(ada, await link()))), 'Connecting did not work');
  assert.equal(quirky.requests.filter(({ path }) => path === '/token').length, before);
  quirky.sendBackWith({ iss: quirky.origin });
  assert.equal(headingOf(await ada.open(await addressOfThird(ada, await link()))), 'Box is connected');
});

test('a field that the file sends and the third party did not give is found out before anything is stored', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: quirky.account, authorization: 'Bearer {id_token}' });
  assert.equal(headingOf(await ada.open(await addressOfThird(ada, await link()))), 'Connecting did not work');
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
  assert.match(proxy.log.join(''), /"field":"id_token"/);
});
