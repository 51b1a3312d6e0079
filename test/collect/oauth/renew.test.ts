/** Keeping an account alive: before its token ends, after a 401, once for however many calls, and only `invalid_grant` is final (O3, O4, O5, B9). */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { headingOf, logInAtThird, startAccount, type AccountSetup, type RunningAccount } from '../../kit/account-setup.ts';
import { connect, urlMode } from '../../kit/mcp-client.ts';
import { callOf, mcpServer } from '../../kit/mcp-server.ts';
import { startThirdParty, type ThirdParty, type ThirdPartyOptions } from '../../kit/third-party.ts';
import { createWebVisitor } from '../../kit/web-visitor.ts';

const minute = 60_000;

const accountAt = (third: ThirdParty) => `issuer: "${third.issuer}", ${third.client}, scopes: [read]`;

async function connected(t: TestContext, third: ThirdParty, setup: Partial<AccountSetup> = {}): Promise<RunningAccount> {
  const running = await startAccount(t, { account: accountAt(third), ...setup });
  assert.equal(headingOf(await running.connect()), 'Box is connected');
  return running;
}

async function ownThird(t: TestContext, options: ThirdPartyOptions = {}): Promise<ThirdParty> {
  const third = await startThirdParty(options);
  t.after(() => third.close());
  return third;
}

const codeOf = (answer: { readonly message: { readonly error?: { readonly code: number } } }) => answer.message.error?.code;
const refreshes = (third: ThirdParty) => third.tokenRequests('refresh_token');

test('a token is renewed a minute before its end, and used until then', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, tokens } = await connected(t, third);
  proxy.pass(58 * minute);
  await client.call('paid');
  assert.equal(refreshes(third).length, 0);
  proxy.pass(1 * minute + 1);
  await client.call('paid');
  await client.call('paid');
  assert.equal(refreshes(third).length, 1);
  const [old, fresh, same] = tokens();
  assert.notEqual(old, fresh);
  assert.equal(fresh, same);
  assert.equal(proxy.audit.filter(({ audit }) => audit === 'refreshed').length, 1);
});

test('rotating refresh tokens are each used once, for as long as she works', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, tokens } = await connected(t, third);
  for (let hour = 0; hour < 4; hour += 1) {
    proxy.pass(60 * minute);
    assert.match((await client.call('paid')).text, /"paid"/);
  }
  const used = refreshes(third).map((body) => body.get('refresh_token'));
  assert.equal(new Set(used).size, 4);
  assert.equal(new Set(tokens()).size, 4);
});

test('200 calls at once with an ended token are one token request and 200 successes (B9, O3)', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, tokens } = await connected(t, third);
  proxy.pass(61 * minute);
  const answers = await Promise.all(Array.from({ length: 200 }, () => client.call('paid')));
  assert.deepEqual([...new Set(answers.map(({ text }) => text.includes('"paid"')))], [true]);
  assert.equal(refreshes(third).length, 1);
  assert.equal(tokens().length, 200);
  assert.equal(new Set(tokens()).size, 1);
});

test('after a 401 the account is renewed and the call is sent once more, with the new token', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, upstream, tokens } = await connected(t, third);
  const server = mcpServer();
  const refused = new Set<string | undefined>();
  upstream.setBehaviour((request) => (callOf(request)?.method === 'tools/call' && refused.has(request.header('authorization')) ? { status: 401 } : server(request)));
  const fresh = await connect(client.url, { capabilities: urlMode });
  await fresh.call('paid');
  refused.add(tokens()[0]);
  proxy.pass(1 * minute);
  assert.match((await fresh.call('paid')).text, /"paid"/);
  assert.equal(tokens().length, 3);
  assert.equal(tokens()[1], tokens()[0]);
  assert.notEqual(tokens()[2], tokens()[0]);
  assert.equal(refreshes(third).length, 1);
  assert.deepEqual(proxy.audit.slice(-4).map(({ audit }) => audit), ['used', 'used', 'refreshed', 'used']);
});

test('an upstream that refuses every token is asked twice, then the person is asked; never a loop (A13)', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, upstream, tokens } = await connected(t, third);
  const before = upstream.requests.length;
  upstream.setBehaviour(() => ({ status: 401 }));
  proxy.pass(1 * minute);
  assert.equal(codeOf(await client.call('paid')), -32042);
  assert.equal(upstream.requests.length - before, 2);
  assert.equal(tokens().length, 2);
  assert.equal(refreshes(third).length, 1);
  assert.equal(codeOf(await client.call('paid')), -32042);
  assert.equal(upstream.requests.length - before, 2, 'what was refused does not go up again');
});

test('a token answer without a new refresh token keeps the old one (O4)', async (t) => {
  const third = await ownThird(t, { with: { rotateRefreshToken: false } });
  const { client, proxy } = await connected(t, third);
  for (let hour = 0; hour < 2; hour += 1) {
    proxy.pass(60 * minute);
    third.answerInstead('/token', { status: 200, body: JSON.stringify({ access_token: `without-${hour}`, token_type: 'Bearer', expires_in: 3_600 }) });
    assert.match((await client.call('paid')).text, /"paid"/);
  }
  const [first, second] = refreshes(third).map((body) => body.get('refresh_token'));
  assert.equal(first, second);
});

const troubles = {
  'a 500 with JSON': { status: 500, body: '{"error":"invalid_grant"}' },
  'a 503 page': { status: 503, type: 'text/html', body: '<h1>Maintenance</h1>' },
  'a 429': { status: 429, body: '{"error":"slow_down"}' },
  'an HTML page with 400': { status: 400, type: 'text/html', body: '<h1>invalid_grant</h1>' },
  'a 200 that is no JSON': { status: 200, type: 'text/html', body: '<h1>Welcome</h1>' },
  'a 200 without a token': { status: 200, body: '{}' },
  'invalid_client': { status: 401, body: '{"error":"invalid_client"}' },
  'a broken connection': 'cut',
  'a redirect': { status: 302, body: '' },
} as const;

for (const [name, trouble] of Object.entries(troubles)) {
  test(`${name} from the third party keeps the account, tells the client clearly, and is over when it is over (O5)`, async (t) => {
    const third = await ownThird(t);
    const { client, proxy, tokens } = await connected(t, third);
    proxy.pass(61 * minute);
    third.answerInstead('/token', trouble);
    const { status, message } = await client.call('paid');
    assert.deepEqual([status, message.error?.code], [200, 1503]);
    assert.match(message.error?.message ?? '', /^The service at which your account is connected cannot be asked right now/);
    assert.equal(tokens().length, 0);
    const asked = refreshes(third).length;
    assert.equal(codeOf(await client.call('paid')), 1503);
    assert.equal(refreshes(third).length, asked, 'it is not asked again at once');
    third.answerInstead('/token', undefined);
    proxy.pass(4_000);
    assert.match((await client.call('paid')).text, /"paid"/);
  });
}

test('while its token is still good, an account whose third party is down goes on working', async (t) => {
  const third = await ownThird(t);
  const { client, proxy } = await connected(t, third);
  third.answerInstead('/token', { status: 503, body: '' });
  proxy.pass(59 * minute + 30_000);
  assert.match((await client.call('paid')).text, /"paid"/);
  proxy.pass(1 * minute);
  assert.equal(codeOf(await client.call('paid')), 1503);
});

test('`invalid_grant` ends it: the person is asked to connect again, and why is on the page', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, ada, link } = await connected(t, third);
  await third.endGrants();
  proxy.pass(61 * minute);
  assert.equal(codeOf(await client.call('paid')), -32042);
  assert.deepEqual(proxy.audit.slice(-2).map(({ audit }) => audit), ['ended', 'asked']);
  const page = await ada.open(await link());
  assert.match(page.html, /The connection that you made before is no longer valid/);
  assert.match((await ada.open(`${proxy.origin}/account`)).html, /Refused/);
});

test('what she connects while a renewal is under way is not overwritten by it', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, tokens } = await connected(t, third);
  proxy.pass(61 * minute);
  const gate = Promise.withResolvers<void>();
  const arrived = third.asked('/token');
  third.holdTokens(gate.promise);
  const call = client.call('paid');
  await arrived;
  third.holdTokens(undefined);
  const ada = createWebVisitor();
  const done = await logInAtThird(ada, await ada.submit(await ada.submit(await ada.open(`${proxy.origin}/account`), { action: 'connect' }), { action: 'give' }));
  assert.equal(headingOf(done), 'Box is connected');
  gate.resolve();
  assert.match((await call).text, /"paid"/);
  await client.call('paid');
  const [first, second] = tokens();
  assert.equal(first, second);
  const checked = await third.check(second?.replace('Bearer ', '') ?? '');
  assert.equal(checked?.person, 'ada-at-third');
});

test('an account without a refresh token is asked for again when its token has ended', async (t) => {
  const third = await ownThird(t, { with: { issueRefreshToken: () => Promise.resolve(false) } });
  const { client, proxy } = await connected(t, third);
  proxy.pass(59 * minute);
  assert.match((await client.call('paid')).text, /"paid"/);
  proxy.pass(2 * minute);
  assert.equal(codeOf(await client.call('paid')), -32042);
  assert.equal(refreshes(third).length, 0);
});

test('old and new tokens are scrubbed from what the upstream echoes', async (t) => {
  const third = await ownThird(t);
  const { client, proxy, tokens } = await connected(t, third, { rules: '[{ tools: [paid, echo], requires: [box] }]' });
  await client.call('paid');
  proxy.pass(61 * minute);
  const answer = await client.call('echo', { remembered: 'x' });
  assert.match(answer.text, /\[redacted\]/);
  for (const token of tokens()) assert.equal(answer.text.includes(token?.replace('Bearer ', '') ?? ''), false);
});
