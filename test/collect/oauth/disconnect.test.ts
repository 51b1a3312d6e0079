/** Disconnecting: the third party is told (RFC 7009), and what is stored is erased whatever it says. */
import assert from 'node:assert/strict';
import { after, afterEach, test, type TestContext } from 'node:test';
import { headingOf, startAccount } from '../../kit/account-setup.ts';
import { startQuirkyProvider } from '../../kit/quirky-provider.ts';
import { startThirdParty } from '../../kit/third-party.ts';

const third = await startThirdParty();
after(() => third.close());
afterEach(() => { third.answerInstead('/token/revocation', undefined); });

async function connected(t: TestContext, account = `issuer: "${third.issuer}", ${third.client}, scopes: [read]`) {
  const running = await startAccount(t, { account });
  assert.equal(headingOf(await running.connect()), 'Box is connected');
  await running.client.call('paid');
  const disconnect = async () => {
    const page = await running.ada.open(`${running.proxy.origin}/account`);
    return running.ada.submit(page, { action: 'disconnect' });
  };
  return { ...running, disconnect, token: running.tokens()[0]?.replace('Bearer ', '') ?? '' };
}

test('on her account page she disconnects: both tokens end at the third party, and the next call asks', async (t) => {
  const { disconnect, client, proxy, token } = await connected(t);
  assert.notEqual(await third.check(token), undefined);
  const page = await disconnect();
  assert.match(page.html, /Not connected/);
  assert.equal(await third.check(token), undefined);
  assert.deepEqual(third.requests.filter(({ path }) => path === '/token/revocation').map(({ body }) => body.get('token_type_hint')), ['refresh_token', 'access_token']);
  assert.deepEqual(proxy.audit.slice(-1).map(({ audit, outcome }) => [audit, outcome]), [['revoked', 'revoked']]);
  assert.equal((await client.call('paid')).message.error?.code, -32042);
});

for (const [name, answer] of Object.entries({ 'is down': { status: 503, body: '' }, 'refuses': { status: 400, body: '{"error":"unsupported_token_type"}' }, 'cuts the connection': 'cut' } as const)) {
  test(`a third party that ${name} keeps nothing alive here`, async (t) => {
    const { disconnect, client, proxy } = await connected(t);
    third.answerInstead('/token/revocation', answer);
    assert.match((await disconnect()).html, /Not connected/);
    assert.deepEqual(proxy.audit.slice(-1).map(({ audit, outcome }) => [audit, outcome]), [['revoked', 'failed']]);
    assert.equal((await client.call('paid')).message.error?.code, -32042);
  });
}

test('where a third party offers no revocation, what is stored is erased', async (t) => {
  const quirky = await startQuirkyProvider();
  t.after(() => quirky.close());
  const { disconnect, proxy } = await connected(t, quirky.account);
  assert.match((await disconnect()).html, /Not connected/);
  assert.deepEqual(proxy.audit.slice(-1).map(({ audit, outcome }) => [audit, outcome]), [['revoked', 'not-offered']]);
});
