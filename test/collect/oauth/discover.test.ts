/** `discover: upstream`: the upstream is an OAuth-protected MCP server of the SDK, and names its third party itself. */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { headingOf, logInAtThird } from '../../kit/account-setup.ts';
import { connect, linkIn, urlMode } from '../../kit/mcp-client.ts';
import { startProtectedMcp, type ProtectedMcp } from '../../kit/protected-mcp.ts';
import { startProxy } from '../../kit/proxy.ts';
import { startThirdParty } from '../../kit/third-party.ts';
import { createWebVisitor, type WebVisitor } from '../../kit/web-visitor.ts';

/** The third party, which the file does not name, is on this machine. */
const reachable = 'outbound: { allow: [127.0.0.0/8, "::1"] }';
const third = await startThirdParty();
const upstream = await startProtectedMcp(third);
after(() => Promise.all([third.close(), upstream.close()]));

async function start(t: TestContext, { url }: Pick<ProtectedMcp, 'url'> = upstream, account = '', more = reachable) {
  const proxy = await startProxy(`
credentials: { own: { kind: oauth, title: Notes, discover: upstream${account}, inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams: { notes: { url: "${url}", attach: always, rules: [{ tools: [whoami, change], requires: [own] }] } }
${more}`);
  t.after(() => proxy.close());
  return proxy;
}

async function connectFromAccount(visitor: WebVisitor, origin: string) {
  const page = await visitor.submit(await visitor.open(`${origin}/account`), { action: 'connect' });
  return logInAtThird(visitor, await visitor.submit(page, { action: 'give' }));
}

test('she connects before any call: the installation registers itself, and her token is for that upstream alone', async (t) => {
  const proxy = await start(t);
  const before = third.requests.length;
  assert.equal(headingOf(await connectFromAccount(createWebVisitor(), proxy.origin)), 'Notes is connected');
  const [registration, token] = third.requests.slice(before);
  assert.equal(registration?.path, '/reg');
  assert.deepEqual(JSON.parse(registration.text), {
    client_name: 'Elicitgate',
    application_type: 'web',
    redirect_uris: [`${proxy.origin}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
  });
  assert.equal(token?.body.get('resource'), upstream.url);
  const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  assert.match((await client.call('whoami')).text, /whoami: ada-at-third/);
  assert.equal((await third.check(upstream.tokens.at(-1) ?? ''))?.audience, upstream.url);
});

test('one registration serves everyone; another redirect address makes another one', async (t) => {
  const first = await start(t);
  await connectFromAccount(createWebVisitor(), first.origin);
  const registrations = () => third.requests.filter(({ path }) => path === '/reg').length;
  const before = registrations();
  await connectFromAccount(createWebVisitor(), first.origin);
  assert.equal(registrations(), before);
  const second = await start(t);
  await connectFromAccount(createWebVisitor(), second.origin);
  assert.equal(registrations(), before + 1);
});

test('a tool that needs a further scope leads to a question that names it, and what she granted before stays', async (t) => {
  const proxy = await start(t);
  const ada = createWebVisitor();
  await connectFromAccount(ada, proxy.origin);
  const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  const refused = await client.call('change');
  const [asked] = refused.message.error?.data?.elicitations ?? [];
  assert.equal(refused.message.error?.code, -32042);
  assert.match(asked?.message ?? '', /needs your Notes account with permission for read, write to run “change”/);
  const page = await ada.open(linkIn(refused.text));
  assert.match(page.html, /now needs more permissions than you gave then/);
  for (const scope of ['read', 'write']) assert.match(page.html, new RegExp(`<code><bdi>${scope}</bdi></code>`));
  assert.equal(headingOf(await logInAtThird(ada, await ada.submit(page, { action: 'give' }))), 'Notes is connected');
  assert.match((await client.call('change')).text, /change: ada-at-third/);
  assert.match((await client.call('whoami')).text, /whoami: ada-at-third/);
});

test('a token is renewed at the same third party, with the same registration and `resource`', async (t) => {
  const proxy = await start(t);
  await connectFromAccount(createWebVisitor(), proxy.origin);
  const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  proxy.pass(3_600_001);
  assert.match((await client.call('whoami')).text, /whoami: ada-at-third/);
  assert.equal(third.tokenRequests('refresh_token').at(-1)?.get('resource'), upstream.url);
});

test('the token of one upstream never goes to another one at the same third party', async (t) => {
  const other = await startProtectedMcp(third);
  t.after(() => other.close());
  const proxy = await startProxy(`
credentials: { own: { kind: oauth, title: Notes, discover: upstream, inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams:
  notes: { url: "${upstream.url}", attach: always, rules: [{ tools: [whoami], requires: [own] }] }
  other: { url: "${other.url}", attach: always, rules: [{ tools: [whoami], requires: [own] }] }
${reachable}`);
  t.after(() => proxy.close());
  await connectFromAccount(createWebVisitor(), proxy.origin);
  const client = await connect(`${proxy.origin}/other/mcp`, { capabilities: urlMode });
  assert.match((await client.call('whoami')).text, /\/connect\//);
  assert.deepEqual(other.tokens, []);
});

test('a third party inside, which the file neither names nor allows, is not reached', async (t) => {
  const proxy = await start(t, upstream, '', '');
  const ada = createWebVisitor();
  const before = third.requests.length;
  const page = await ada.submit(await ada.open(`${proxy.origin}/account`), { action: 'connect' });
  assert.deepEqual([page.status, headingOf(page)], [503, 'Connecting is not possible at the moment']);
  assert.equal(third.requests.length, before);
});

for (const [name, metadata] of Object.entries({
  'names another resource': { resource: 'https://other.example.com/mcp' },
  'names no authorization server': { authorization_servers: [] },
  'names an issuer that is no https address': { authorization_servers: ['javascript:alert(1)'] },
  'names a private address': { authorization_servers: ['http://10.0.0.1'] },
})) {
  test(`an upstream whose metadata ${name} connects nobody`, async (t) => {
    const bent = await startProtectedMcp(third, { metadata });
    t.after(() => bent.close());
    const proxy = await start(t, bent);
    const ada = createWebVisitor();
    const page = await ada.submit(await ada.open(`${proxy.origin}/account`), { action: 'connect' });
    assert.deepEqual([page.status, headingOf(page)], [500, 'This cannot be connected yet']);
    assert.equal(proxy.audit.some(({ audit }) => audit === 'left'), false);
  });
}
