/** What a person gave is hers in every session, every client that she allows, and after every login. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { key } from '../kit/gateway.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { post, toolCall, urlMode } from '../kit/mcp-client.ts';
import { bearer, startRightPerson } from '../kit/right-person.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

test('a key hangs on the person: new sessions, new tokens and calls without a session have it (C7, E3)', async (t) => {
  const { client, link, url, token, upstream } = await startRightPerson(t, provider);
  const first = await client('ada');
  const ada = createWebVisitor();
  await ada.submit(await ada.openAs('ada', await link(first)), { token: key, action: 'give' });
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: urlMode, clientInfo: { name: 'desk-app', version: '1' } } };
  for (let again = 0; again < 3; again += 1) assert.equal((await first.post(initialize)).status, 200);
  for (const one of [first, await client('ada'), await client('ada')]) assert.equal((await one.call('paid')).message.error, undefined);
  upstream.setBehaviour(() => ({ headers: { 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}' }));
  assert.equal((await post(url, toolCall('paid'), bearer(await token('ada')))).message.error, undefined);
  assert.deepEqual([...new Set(upstream.requests.map((request) => request.header('x-key')).filter((one) => one !== undefined))], [key]);
});

test('a missing credential is never 401 or 403 on the MCP endpoint, and a client without URL mode gets the link as a text (C10)', async (t) => {
  const { client, url, token } = await startRightPerson(t, provider);
  const asked = await (await client('ada')).call('paid');
  assert.deepEqual([asked.status, asked.headers['www-authenticate'], asked.message.error?.code], [200, undefined, -32042]);
  const text = await post(url, toolCall('paid'), bearer(await token('ada')));
  assert.deepEqual([text.status, text.headers['www-authenticate'], text.message.result?.isError], [200, undefined, true]);
});

test('the page, the login and the calls know her by one pair of issuer and subject, so she is asked once (E6)', async (t) => {
  const { client, link, proxy } = await startRightPerson(t, provider, { oauth: 'subjectClaim: uid' });
  const desk = await client('ada');
  const ada = createWebVisitor();
  await ada.submit(await ada.openAs('ada', await link(desk)), { token: key, action: 'give' });
  assert.equal((await desk.call('paid')).message.error, undefined);
  assert.deepEqual([...new Set(proxy.audit.map(({ issuer, subject }) => `${String(issuer)} ${String(subject)}`))], [`${provider.issuer} uid-ada`]);
});

test('her account page says what can be connected before any call, and afterwards since when, last used and by which clients', async (t) => {
  const { client, link, proxy } = await startRightPerson(t, provider);
  const account = `${proxy.origin}/account`;
  const ada = createWebVisitor();
  const before = await ada.openAs('ada', account);
  assert.match(before.html, /<bdi>Key<\/bdi>/);
  assert.doesNotMatch(before.html, /value="disconnect"|<time/);
  const connect = await ada.submit(before, { action: 'connect' });
  await ada.submit(connect, { token: key, action: 'give' });
  const given = await ada.open(account);
  assert.match(given.html, /value="disconnect"/);
  assert.doesNotMatch(given.html, /<bdi>(desk|phone)<\/bdi>/, 'no client may use it yet');
  const desk = await client('ada');
  assert.equal((await desk.call('paid')).message.error?.code, -32042, 'a client is asked about');
  await ada.submit(await ada.open(await link(desk)), { action: 'agree' });
  assert.equal([...(await ada.open(account)).html.matchAll(/<time datetime=/g)].length, 1, 'stored, and not used yet');
  proxy.pass(1_000);
  await desk.call('paid');
  assert.equal([...(await ada.open(account)).html.matchAll(/<time datetime=/g)].length, 2, 'a first use is told at once');
  proxy.pass(24 * 3_600_000);
  assert.equal((await (await client('ada')).call('free')).status, 401, 'its token is over by now');
  const later = await ada.openAs('ada', account);
  assert.match(later.html, /<code><bdi>desk<\/bdi><\/code>/);
  assert.equal([...later.html.matchAll(/<time datetime=/g)].length, 2);
  assert.equal(later.html.includes(key), false);
  const gone = await ada.submit(later, { action: 'disconnect' });
  assert.doesNotMatch(gone.html, /value="disconnect"|<time/);
});

test('Ben sees nothing of what Ada connected', async (t) => {
  const { client, link, proxy } = await startRightPerson(t, provider);
  const ada = createWebVisitor();
  await ada.submit(await ada.openAs('ada', await link(await client('ada'))), { token: key, action: 'give' });
  const page = await createWebVisitor().openAs('ben', `${proxy.origin}/account`);
  assert.doesNotMatch(page.html, /value="disconnect"|<time|desk/);
});
