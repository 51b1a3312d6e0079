/** Attacks with somebody else's link, ids or name (A1, A4, A5, A7, A23). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { post, send, toolCall } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { bearer, startRightPerson } from '../kit/right-person.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

test('somebody else’s link shows a visitor her own account and a way to switch, stores nothing, and stays good (A1, E2)', async (t) => {
  const { link, client, proxy } = await startRightPerson(t, provider);
  const desk = await client('ada');
  const address = await link(desk);
  const ben = createWebVisitor();
  const page = await ben.openAs('ben', address);
  assert.equal(page.status, 403);
  assert.match(page.html, /Ben Ali/);
  assert.match(page.html, /href="\/auth\/login\?return=connect%2F[\w-]+&amp;switch=1"/);
  assert.doesNotMatch(page.html, /ada|lovelace|desk|paid|<form/i, 'nothing of whose link it is, nor of what it asks for');

  const own = await ben.open(await link(await client('ben')));
  const csrf = /name="csrf" value="([^"]*)"/.exec(own.html)?.[1] ?? '';
  for (const action of ['give', 'decline', 'renew', 'agree']) {
    const answer = await ben.ask(address, { method: 'POST', body: new URLSearchParams({ csrf, action, token: planted('sk-of-ben-123') }), headers: { origin: proxy.origin, 'sec-fetch-site': 'same-origin' } });
    assert.equal(answer.status, 403, action);
  }
  assert.deepEqual(
    proxy.audit.filter(({ audit }) => audit === 'wrong-person').map(({ subject, issuer, upstream, credential }) => ({ subject, issuer, upstream, credential })),
    Array.from({ length: 5 }, () => ({ subject: 'ben', issuer: provider.issuer, upstream: 'main', credential: 'key' })),
  );
  assert.equal(proxy.audit.some(({ audit }) => audit === 'stored' || audit === 'submitted' || audit === 'declined'), false);

  const ada = createWebVisitor();
  const entry = await ada.openAs('ada', address);
  assert.deepEqual([entry.status, (await ada.submit(entry, { token: planted('sk-of-ada-123'), action: 'give' })).status], [200, 200]);
  assert.equal((await desk.call('paid')).message.result?.isError ?? false, false);
  assert.match((await (await client('ben')).call('paid')).text, /-32042/, 'Ben has none');
});

test('from the wrong account she switches, and goes on with her link (A1)', async (t) => {
  const { link, client } = await startRightPerson(t, provider);
  const address = await link(await client('ada'));
  const person = createWebVisitor();
  const wrong = await person.openAs('ben', address);
  const form = await person.open(new URL((/href="([^"]*switch=1)"/.exec(wrong.html)?.[1] ?? '').replaceAll('&amp;', '&'), address).href);
  const page = await person.submit(form, { login: 'ada', password: 'x' });
  assert.deepEqual([page.url, page.status], [address, 200]);
});

test('a hundred visits in clean browsers end at the login and change nothing (A4)', async (t) => {
  const { link, client, proxy } = await startRightPerson(t, provider, { file: 'limits: { perAddress: { pages: 1000/1m } }' });
  const address = await link(await client('ada'));
  const ticket = new URL(address).pathname.split('/').at(-1) ?? '';
  const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(address, { redirect: 'manual' })));
  for (const { status, headers } of answers) assert.deepEqual([status, headers.get('location'), headers.getSetCookie()], [303, `/auth/login?return=connect%2F${ticket}`, []]);
  for (const method of ['HEAD', 'OPTIONS', 'PUT', 'DELETE']) assert.ok((await send(address, { method })).status >= 400, method);
  assert.deepEqual(proxy.audit.map(({ audit }) => audit), ['asked']);
  const ada = createWebVisitor();
  assert.equal((await ada.submit(await ada.openAs('ada', address), { token: 'sk-123', action: 'give' })).status, 200);
});

test('the ids of one person are, with the token of another, ids that do not exist, on every route (A5)', async (t) => {
  const { client, token, url, proxy, upstream } = await startRightPerson(t, provider);
  const ada = await client('ada');
  assert.equal((await ada.call('free')).status, 200, 'the proxy knows this session well');
  const before = upstream.requests.length;
  const bens = [bearer(await token('ben')), bearer(await token('ada', { client: 'phone' }))];
  for (const headers of bens) {
    for (const id of [ada.session ?? '', 'does-not-exist']) {
      const own = { ...headers, 'Mcp-Session-Id': id };
      const answers = [await post(url, toolCall('free'), own), await post(url, toolCall('paid'), own), await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, own)];
      for (const method of ['GET', 'DELETE']) answers.push(await send(url, { method, headers: { ...own, Accept: 'text/event-stream' } }));
      assert.deepEqual(answers.map(({ status }) => status), [404, 404, 404, 404, 404], id);
    }
  }
  assert.equal(upstream.requests.length, before);
  assert.equal((await ada.call('free')).status, 200, 'Ada’s session is untouched');

  const elicitation = (await ada.call('paid')).message.error?.data?.elicitations?.[0];
  const ben = createWebVisitor();
  await ben.openAs('ben', `${proxy.origin}/account`);
  const unknown = await ben.open(`${proxy.origin}/connect/unknown`);
  for (const id of [elicitation?.elicitationId ?? '', ada.session ?? '']) {
    const page = await ben.open(`${proxy.origin}/connect/${id}`);
    assert.equal(page.status, 404);
    assert.equal(page.html.replaceAll(id, ''), unknown.html.replaceAll('unknown', ''), 'an elicitation id is no ticket');
  }
});

test('who she claims to be in the message, its metadata, its arguments or a header counts for nothing (A7)', async (t) => {
  const { url, token, proxy } = await startRightPerson(t, provider);
  const claim = { sub: 'ben', user: 'ben', email: 'ben@example.com', client_id: 'phone', principal: { issuer: provider.issuer, subject: 'ben' } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'paid', arguments: claim, _meta: { ...claim, 'io.modelcontextprotocol/clientInfo': { name: 'phone', version: '1' } } }, ...claim };
  const headers = { 'X-Forwarded-User': 'ben', 'X-Auth-Request-User': 'ben', 'X-Remote-User': 'ben', 'Remote-User': 'ben', 'X-User': 'ben', 'X-Client-Id': 'phone', 'Cf-Access-Jwt-Assertion': await token('ben'), Cookie: 'elicitgate-session=ben' };
  const answer = await post(url, message, { ...headers, ...bearer(await token('ada')) });
  assert.match(answer.text, /\/connect\//);
  assert.deepEqual(proxy.audit.map(({ audit, subject, clientId }) => [audit, subject, clientId]), [['asked', 'ada', 'desk']]);
  assert.equal((await post(url, message, headers)).status, 401);
});
