/** Attacks on identities that a proxy in front vouches for (A16, A17). */
import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../kit/gateway.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { startIngress } from '../kit/ingress.ts';
import { connect, linkIn, post, send, toolCall, urlMode, type SentHeaders } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const secret = planted('proxy-secret-93a1');
const claims = 'claims: { name: X-Forwarded-Preferred-Username, client_id: X-Forwarded-Client }';
const proxyHeaders = (more: string) => `identity: { proxyHeaders: { user: X-Forwarded-User, issuer: "https://sso.example.com", ${claims}${more} } }`;
const withSecret = proxyHeaders(`, secretHeader: X-Proxy-Secret, secret: ${secret}`);
const withoutClients = withSecret.replace(', client_id: X-Forwarded-Client', '');
const trusting = (network: string) => `server: { listen: "\${LISTEN}", admin: false, drain: 1s, trustedProxies: [${network}] }\n${proxyHeaders('')}`;

const statusWith = async ({ url }: RunningGateway, headers: SentHeaders) => (await post(url, toolCall('free'), headers)).status;
const askedFor = ({ proxy }: RunningGateway) => proxy.audit.filter(({ audit }) => audit === 'asked').map(({ issuer, subject, clientId }) => ({ issuer, subject, clientId }));

test('many ways to be somebody by a header are refused; only the proxy’s own one counts (A16)', async (t) => {
  const gateway = await startGateway(t, { file: withSecret });
  const good = { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': secret, 'X-Forwarded-Client': 'desk' };
  const spoofed: readonly SentHeaders[] = [
    {},
    { 'X-Forwarded-User': 'ada' },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': '' },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': 'wrong' },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': secret.slice(0, -1) },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': [secret, secret] },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': ['wrong', secret] },
    { 'X-Forwarded-User': 'ada', X_Proxy_Secret: secret },
    { 'X-Proxy-Secret': secret },
    { ...good, 'X-Forwarded-User': '' },
    { ...good, 'X-Forwarded-User': '   ' },
    { ...good, 'X-Forwarded-User': ['ada', 'ben'] },
    { ...good, 'X-Forwarded-User': ['ada', 'ada'] },
    { ...good, 'X-Forwarded-User': ['ada', ''] },
    { ...good, X_Forwarded_User: 'ben' },
    { ...good, 'x-forwarded_user': 'ben' },
    { 'X-Proxy-Secret': secret, X_Forwarded_User: 'ada' },
    { 'X-Proxy-Secret': secret, 'X-Forwarded_User': 'ada' },
    { ...good, 'X-Forwarded-Client': ['desk', 'phone'] },
    { ...good, X_Forwarded_Client: 'phone' },
    { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': secret },
    { ...good, 'X-Forwarded-Client': '' },
    { ...good, 'X-Forwarded-Client': ' ' },
    { ...good, 'X-Forwarded-Preferred-Username': ['Ada', 'Ben'] },
    { 'X-Proxy-Secret': secret, 'X-Forwarded-For': 'ada', Forwarded: 'for=ada', 'X-Remote-User': 'ada', Authorization: 'Bearer ada' },
  ];
  for (const headers of spoofed) assert.equal(await statusWith(gateway, headers), 401, JSON.stringify(headers));
  assert.deepEqual(gateway.upstream.requests, []);
  assert.equal(await statusWith(gateway, good), 200);
  assert.equal(await statusWith(gateway, { 'x-FORWARDED-user': ' ada ', 'x-proxy-secret': secret, 'x-forwarded-client': 'desk' }), 200, 'a header’s name has no case');
  assert.equal(gateway.proxy.log.join('').includes(secret), false);
});

test('headers of a peer that is not trusted count for nothing, whatever it says of its own address (A16)', async (t) => {
  const headers = { 'X-Forwarded-User': 'ada', 'X-Forwarded-Client': 'desk' };
  const stranger = await startGateway(t, { file: trusting('10.0.0.0/8') });
  for (const more of [{}, { 'X-Forwarded-For': '10.0.0.1' }, { 'X-Real-IP': '10.0.0.1' }, { Forwarded: 'for=10.0.0.1' }]) assert.equal(await statusWith(stranger, { ...headers, ...more }), 401);
  const trusted = await startGateway(t, { file: trusting('127.0.0.0/8, ::1/128') });
  assert.equal(await statusWith(trusted, headers), 200);
  assert.equal(await statusWith(trusted, { ...headers, X_Forwarded_User: 'ben' }), 401);
});

async function behindIngress(t: TestContext, strips: readonly string[]) {
  const ingress = await startIngress({ headersOf: (person) => ({ 'X-Forwarded-User': person, 'X-Forwarded-Preferred-Username': person.toUpperCase(), 'X-Proxy-Secret': secret }), strips });
  t.after(() => ingress.close());
  const host = new URL(ingress.origin).host;
  const file = `server: { listen: "\${LISTEN}", publicUrl: "${ingress.origin}", admin: false, drain: 1s, allowedHosts: ["${host}"] }\n${withoutClients.replace(' } }', ', logoutUrl: /oauth2/sign_out } }')}`;
  const gateway = await startGateway(t, { file });
  ingress.passTo(gateway.proxy.origin);
  return { ...gateway, url: `${ingress.origin}/mcp`, origin: ingress.origin };
}

test('behind an ingress with authentication a person calls, is asked, gives her key and is herself (A16)', async (t) => {
  const running = await behindIngress(t, ['X-Forwarded-User', 'X-Forwarded-Preferred-Username', 'X-Proxy-Secret']);
  const spoof = { 'X-Forwarded-User': 'ben', 'X-Proxy-Secret': 'guess' };
  const client = await connect(running.url, { capabilities: urlMode, headers: { Cookie: 'person=ada', ...spoof } });
  const address = linkIn((await client.call('paid')).text);
  assert.deepEqual(askedFor(running), [{ issuer: 'https://sso.example.com', subject: 'ada', clientId: undefined }]);
  assert.equal(new URL(address).origin, running.origin);

  const ben = createWebVisitor();
  ben.cookies.set('person', 'ben');
  const wrong = await ben.open(address);
  assert.deepEqual([wrong.status, /href="(\/oauth2\/sign_out)"/.exec(wrong.html)?.[1]], [403, '/oauth2/sign_out']);
  assert.doesNotMatch(wrong.html, /ada/i);

  const ada = createWebVisitor();
  ada.cookies.set('person', 'ada');
  const page = await ada.open(address, spoof);
  assert.match(page.html, /<bdi>ADA<\/bdi>/, 'the name is the proxy’s to say');
  assert.equal((await ada.submit(page, { token: planted('sk-12345678'), action: 'give' })).status, 200);
  assert.equal((await client.call('paid')).message.result?.isError ?? false, false);

  const bensForm = await ben.open(`${running.origin}/account`);
  const forged = await ada.submit({ ...bensForm, url: `${running.origin}/account` }, { action: 'disconnect' });
  assert.equal(forged.status, 403, 'without a session of ours too, a form is one person’s (A23)');

  const nobody = await createWebVisitor().open(address);
  assert.equal(nobody.status, 403);
  assert.match(nobody.html, /not known|does not say who you are|who you are/i);
  assert.equal((await ada.open(`${running.origin}/account`)).html.includes('/auth/logout'), false, 'there is no session of ours to end');
  assert.equal((await ada.open(`${running.origin}/auth/login`)).status, 404);
});

test('where the proxy names clients a call without one is nobody’s, and a browser needs none (A29)', async (t) => {
  const gateway = await startGateway(t, { file: withSecret });
  const person = { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': secret };
  const client = await connect(gateway.url, { capabilities: urlMode, headers: { ...person, 'X-Forwarded-Client': 'desk' } });
  const address = linkIn((await client.call('paid')).text);
  assert.deepEqual(askedFor(gateway), [{ issuer: 'https://sso.example.com', subject: 'ada', clientId: 'desk' }]);
  assert.equal((await createWebVisitor().open(address, person)).status, 200);
  assert.equal(await statusWith(gateway, person), 401);
});

test('with a careless ingress that lets headers through, a request that says two things is nobody’s (A16)', async (t) => {
  const running = await behindIngress(t, []);
  assert.equal((await post(running.url, toolCall('free'), { Cookie: 'person=ada' })).status, 200);
  for (const name of ['X-Forwarded-User', 'x_forwarded_user', 'X-Proxy-Secret']) {
    assert.equal((await post(running.url, toolCall('free'), { Cookie: 'person=ada', [name]: 'ben' })).status, 401, name);
  }
});

test('an assertion that an access proxy signed counts; forged, for another audience, unprefixed or doubled it does not (A16, A22)', async (t) => {
  const file = `identity: { jwtHeader: { header: Cf-Access-Jwt-Assertion, issuer: "${provider.issuer}", audience: app-1, jwksUri: "${provider.issuer}/jwks", subjectClaim: email } }`;
  const gateway = await startGateway(t, { file });
  const assertion = (claimsOf: object = {}, header = {}) => provider.sign({ iss: provider.issuer, aud: ['app-1'], sub: '77', email: 'ada@example.com', exp: Math.floor(Date.now() / 1_000) + 600, ...claimsOf }, { typ: 'JWT', ...header });
  const good = await assertion();
  const name = 'Cf-Access-Jwt-Assertion';
  const refused: readonly SentHeaders[] = [
    {},
    { [name]: '' },
    { [name]: 'ada@example.com' },
    { [name]: `Bearer ${good}` },
    { [name]: [good, good] },
    { Cf_Access_Jwt_Assertion: good },
    { Authorization: `Bearer ${good}` },
    { Cookie: `CF_Authorization=${good}` },
    { [name]: await assertion({ aud: 'app-2' }) },
    { [name]: await assertion({ iss: 'https://evil.example' }) },
    { [name]: await assertion({ exp: Math.floor(Date.now() / 1_000) - 300 }) },
    { [name]: await assertion({ email: '' }) },
    { [name]: `${good.slice(0, -6)}AAAAAA` },
  ];
  for (const headers of refused) {
    const { status, headers: answered } = await post(gateway.url, toolCall('free'), headers);
    assert.deepEqual([status, answered['www-authenticate']], [401, undefined], JSON.stringify(headers));
  }
  assert.deepEqual(gateway.upstream.requests, []);
  const client = await connect(gateway.url, { capabilities: urlMode, headers: { [name]: good } });
  const address = linkIn((await client.call('paid')).text);
  assert.deepEqual(askedFor(gateway), [{ issuer: provider.issuer, subject: 'ada@example.com', clientId: undefined }]);
  const visit = async (headers: Readonly<Record<string, string>>) => (await createWebVisitor().open(address, headers)).status;
  assert.deepEqual([await visit({ [name]: await assertion() }), await visit({ [name]: await assertion({ email: 'ben@example.com' }) }), await visit({})], [200, 403, 403]);
  gateway.proxy.pass(600_000 + 61_000);
  assert.equal((await client.call('free')).status, 401, 'a kept assertion ends too');
});

test('callers by token and browsers by the proxy’s headers are the same person when both name her alike', async (t) => {
  const pages = `pages: { proxyHeaders: { user: X-Forwarded-User, issuer: "${provider.issuer}", secretHeader: X-Proxy-Secret, secret: ${secret} } }`;
  const gateway = await startGateway(t, { file: `identity: { oauth: { issuer: "${provider.issuer}" }, ${pages} }` });
  const headers = { Authorization: `Bearer ${await provider.token('ada', { audience: gateway.url })}` };
  const address = linkIn((await post(gateway.url, toolCall('paid'), headers)).text);
  const visit = async (person: string) => (await createWebVisitor().open(address, { 'X-Forwarded-User': person, 'X-Proxy-Secret': secret })).status;
  assert.deepEqual([await visit('ada'), await visit('ben')], [200, 403]);
  assert.equal(await statusWith(gateway, { 'X-Forwarded-User': 'ada', 'X-Proxy-Secret': secret }), 401, 'headers of the pages name no caller');
  assert.equal((await send(`${gateway.proxy.origin}/auth/login`, { method: 'GET' })).status, 404);
});

test('a foreign Host or Origin is refused before anybody is identified (A17)', async (t) => {
  const gateway = await startGateway(t, { file: `identity: { oauth: { issuer: "${provider.issuer}", login: ${provider.login} } }` });
  const before = provider.requests.length;
  const token = await provider.token('ada', { audience: gateway.url });
  for (const headers of [{ Host: 'evil.example' }, { Origin: 'https://evil.example' }, { Origin: 'null' }] as readonly SentHeaders[]) {
    assert.equal(await statusWith(gateway, { ...headers, Authorization: `Bearer ${token}` }), 403, JSON.stringify(headers));
  }
  for (const path of ['/account', '/auth/login', '/auth/callback', '/connect/x']) assert.equal((await send(gateway.proxy.origin + path, { method: 'GET', headers: { Host: 'evil.example' } })).status, 403, path);
  assert.equal(provider.requests.length, before);
});
