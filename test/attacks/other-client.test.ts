/** Attack A29: another client of the same person uses what she gave through the first one, without her knowing. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { key, type RunningGateway } from '../kit/gateway.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import type { McpClient } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startRightPerson, type RightPerson } from '../kit/right-person.ts';
import { createWebVisitor, type WebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const isAsked = async (client: McpClient) => (await client.call('paid')).message.error?.code === -32042;
const sentKeys = ({ upstream }: RunningGateway) => upstream.requests.map((request) => request.header('x-key')).filter((value) => value !== undefined);

/** Ada gave her key through one client and now calls through another. */
async function givenThroughDesk(running: RightPerson): Promise<{ readonly ada: WebVisitor; readonly desk: McpClient; readonly phone: McpClient }> {
  const [desk, phone] = [await running.client('ada'), await running.client('ada', { client: 'phone' })];
  const ada = createWebVisitor();
  await ada.submit(await ada.openAs('ada', await running.link(desk)), { token: key, action: 'give' });
  return { ada, desk, phone };
}

test('a second client is asked about once, on a page that names it, and then never again (A29)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { ada, desk, phone } = await givenThroughDesk(running);
  assert.equal(await isAsked(desk), false);
  assert.deepEqual(sentKeys(running), [key]);
  assert.equal(await isAsked(phone), true);
  assert.deepEqual(sentKeys(running), [key], 'nothing of hers has gone upstream for it');

  const page = await ada.open(await running.link(phone));
  assert.match(page.html, /<dd><code><bdi>phone<\/bdi><\/code>/, 'the id that the issuer vouches for');
  assert.match(page.html, /<bdi>phone-app<\/bdi>/, 'the name that it gives itself');
  assert.doesNotMatch(page.html, /name="token"/);
  assert.equal((await ada.submit(page, { action: 'agree' })).status, 200);
  assert.deepEqual([await isAsked(phone), await isAsked(phone), await isAsked(desk)], [false, false, false]);
  assert.equal(await isAsked(await running.client('ada', { client: 'phone' })), false, 'a new session of the same client');
  assert.deepEqual(running.proxy.audit.filter(({ audit }) => audit === 'consent').map(({ subject, clientId, clientName }) => [subject, clientId, clientName]), [['ada', 'phone', 'phone-app']]);
});

test('a client that she declines is asked about again, and gets nothing meanwhile (A29)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { ada, phone } = await givenThroughDesk(running);
  assert.equal((await ada.submit(await ada.open(await running.link(phone)), { action: 'decline' })).status, 200);
  assert.deepEqual([await isAsked(phone), await isAsked(phone)], [true, true]);
  assert.deepEqual(sentKeys(running), []);
});

test('she gives the second client another key instead, which then serves both (A29)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { ada, desk, phone } = await givenThroughDesk(running);
  const address = await running.link(phone);
  const replace = /href="([^"]*replace=1)"/.exec((await ada.open(address)).html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const entry = await ada.open(new URL(replace, address).href);
  await ada.submit(entry, { token: planted('sk-another-key-77'), action: 'give' });
  assert.deepEqual([await isAsked(phone), await isAsked(desk)], [false, false]);
  assert.deepEqual(sentKeys(running), ['sk-another-key-77', 'sk-another-key-77']);
});

test('consent is for what is stored: once it is gone there is nothing to agree to (A29)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { ada, phone } = await givenThroughDesk(running);
  const page = await ada.open(await running.link(phone));
  const account = await ada.open(`${running.proxy.origin}/account`);
  await ada.submit(account, { action: 'disconnect' });
  const after = await ada.submit(page, { action: 'agree' });
  assert.match(after.html, /name="token"/, 'she is asked for a key');
  assert.equal(await isAsked(phone), true);
  assert.deepEqual(running.proxy.audit.filter(({ audit }) => audit === 'consent'), []);
});
