/**
 * A15: third parties that lie. One that answers in the name of another (mix-up), metadata of another issuer,
 * an authorize address that is a script, slow and endless answers; nothing of it gets a code or a person.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test, type TestContext } from 'node:test';
import { addressOfThird, headingOf, logInAtThird, startAccount } from '../kit/account-setup.ts';
import { startThirdParty } from '../kit/third-party.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const honest = await startThirdParty();
const evil = await startThirdParty();
after(() => Promise.all([honest.close(), evil.close()]));

const accountAt = (issuer: string, client: string) => `issuer: "${issuer}", ${client}, scopes: [read]`;

/** A server that answers as the test says. */
async function serve(t: TestContext, listener: (origin: string) => RequestListener): Promise<string> {
  const server = createServer((request, response) => { listener(origin)(request, response); });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return origin;
}

test('an evil third party that sends her on to an honest one gets no code of it (mix-up, RFC 9207)', async (t) => {
  const { ada, link } = await startAccount(t, { account: accountAt(evil.issuer, evil.client) });
  const address = new URL(await addressOfThird(ada, await link()));
  // The evil one passes the request on to the honest one, with everything in it.
  const passedOn = new URL(address.href.replace(evil.issuer, honest.issuer));
  const before = [evil, honest].map((one) => one.tokenRequests('authorization_code').length);
  const page = await logInAtThird(ada, await ada.open(passedOn.href));
  assert.deepEqual([page.status, headingOf(page)], [400, 'Connecting did not work']);
  assert.ok(page.way.some((url) => url.includes('code=') && url.includes(`iss=${encodeURIComponent(honest.issuer)}`)));
  assert.deepEqual([evil, honest].map((one) => one.tokenRequests('authorization_code').length), before, 'no token endpoint was asked');
});

test('an answer that calls its sender otherwise than to the letter, or not at all where it promised to, fits no journey (RFC 9207)', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: accountAt(honest.issuer, honest.client) });
  const address = await link();
  const callback = async () => {
    const stranger = createWebVisitor();
    const ended = await logInAtThird(stranger, await stranger.open(await addressOfThird(ada, address)));
    return new URL(ended.way.find((url) => url.includes('/oauth/callback')) ?? '');
  };
  const before = honest.tokenRequests('authorization_code').length;
  for (const iss of [`${honest.issuer}/`, honest.issuer.toUpperCase(), '', evil.issuer, undefined]) {
    const bent = await callback();
    if (iss === undefined) bent.searchParams.delete('iss');
    else bent.searchParams.set('iss', iss);
    assert.equal(headingOf(await ada.open(bent.href)), 'Connecting did not work', iss);
  }
  assert.equal(honest.tokenRequests('authorization_code').length, before);
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
  assert.equal(headingOf(await ada.open((await callback()).href)), 'Box is connected');
});

const metadata = (origin: string, more: Readonly<Record<string, unknown>> = {}) => JSON.stringify({ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, ...more });

for (const [name, answer] of Object.entries({
  'the metadata of another issuer': (origin: string) => metadata(`${origin}/other`),
  'an issuer with one slash more': (origin: string) => metadata(`${origin}/`),
  'an authorize address that is a script': (origin: string) => metadata(origin, { authorization_endpoint: 'javascript:alert(1)' }),
  'an authorize address that is data': (origin: string) => metadata(origin, { authorization_endpoint: 'data:text/html,x' }),
  'a token address without TLS': (origin: string) => metadata(origin, { token_endpoint: 'http://example.com/token' }),
  'an authorize address with a password': (origin: string) => metadata(origin, { authorization_endpoint: 'https://a:b@example.com/' }),
  'metadata that is no JSON': () => '<h1>x</h1>',
  'metadata that is a list': () => '[]',
})) {
  test(`${name} sends nobody anywhere`, async (t) => {
    const origin = await serve(t, (own) => (_request, response) => { response.setHeader('content-type', 'application/json').end(answer(own)); });
    const { ada, link, proxy } = await startAccount(t, { account: accountAt(origin, 'clientId: x, clientSecret: y') });
    const page = await ada.open(await link());
    assert.deepEqual([page.status, headingOf(page)], [500, 'This cannot be connected yet']);
    assert.equal(page.html.includes('javascript:'), false);
    assert.equal(proxy.audit.some(({ audit }) => audit === 'left'), false);
  });
}

test('a redirect of the metadata or of the token endpoint is not followed', async (t) => {
  const origin = await serve(t, (own) => (request, response) => {
    if (request.url?.startsWith('/.well-known/') === true) response.setHeader('content-type', 'application/json').end(metadata(own));
    else response.writeHead(307, { location: `${honest.issuer}/token` }).end();
  });
  const { ada, link } = await startAccount(t, { account: accountAt(origin, 'clientId: x, clientSecret: y') });
  const address = new URL(await addressOfThird(ada, await link()));
  const before = honest.requests.length;
  const state = address.searchParams.get('state') ?? '';
  const page = await ada.open(`${address.searchParams.get('redirect_uri') ?? ''}?code=x&state=${state}`);
  assert.equal(headingOf(page), 'Connecting did not work');
  assert.equal(honest.requests.length, before);
  const moved = await serve(t, () => (_request, response) => { response.writeHead(302, { location: `${honest.issuer}/.well-known/openid-configuration` }).end(); });
  const other = await startAccount(t, { account: accountAt(moved, 'clientId: x, clientSecret: y') });
  assert.equal(headingOf(await other.ada.open(await other.link())), 'This cannot be connected yet');
});

test('metadata without an end is cut off', async (t) => {
  const origin = await serve(t, () => (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.write('{"issuer":"');
    const chunk = 'x'.repeat(65_536);
    const more = (): void => { while (!response.destroyed && response.write(chunk)); };
    response.on('drain', more);
    more();
  });
  const { ada, link } = await startAccount(t, { account: accountAt(origin, 'clientId: x, clientSecret: y') });
  assert.equal(headingOf(await ada.open(await link())), 'Connecting is not possible at the moment');
});

test('an id token without our nonce, or for another client, connects nothing', async (t) => {
  const { ada, link, proxy } = await startAccount(t, { account: `issuer: "${honest.issuer}", ${honest.client}, scopes: [openid, read]` });
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const time = Math.floor(Date.now() / 1_000);
  for (const claims of [{ nonce: 'guessed' }, { aud: 'somebody-else' }, { iss: evil.issuer }, {}]) {
    const idToken = `${part({ alg: 'RS256' })}.${part({ iss: honest.issuer, aud: 'gate', sub: 'x', iat: time, exp: time + 60, ...claims })}.c2ln`;
    honest.answerInstead('/token', { status: 200, body: JSON.stringify({ access_token: 'planted', token_type: 'Bearer', id_token: idToken }) });
    const page = await logInAtThird(ada, await ada.open(await addressOfThird(ada, await link())));
    assert.equal(headingOf(page), 'Connecting did not work', JSON.stringify(claims));
  }
  honest.answerInstead('/token', undefined);
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored'), false);
});
