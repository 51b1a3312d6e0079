/** Callers by access token, against a real issuer: what is taken, for how long, and what happens while the issuer is out of reach. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { connect, post, send, toolCall, urlMode } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startRecorder } from '../kit/recorder.ts';
import { bearer, startRightPerson } from '../kit/right-person.ts';
import { listen } from '../kit/streams.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const statusWith = async (url: string, token: string) => (await post(url, toolCall('free'), bearer(token))).status;
const fiveMinutes = 300_000;

test('metadata is built from publicUrl alone, at the path of RFC 9728, and a browser of any origin may read it (H9)', async (t) => {
  const file = 'server: { listen: "${LISTEN}", publicUrl: "https://mcp.example.com/base", admin: false, drain: 1s, allowedHosts: ["${LISTEN}"] }';
  const { proxy } = await startRightPerson(t, provider, { file, oauth: 'requiredScopes: [mcp]' });
  const metadataOf = async (path: string) => (await send(proxy.origin + path, { method: 'GET', headers: { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' } })).message;
  const metadata = (path: string) => ({
    resource: `https://mcp.example.com/base${path}`,
    authorization_servers: [provider.issuer],
    bearer_methods_supported: ['header'],
    resource_name: 'main',
    scopes_supported: ['mcp'],
  });
  for (const prefix of ['/base', '']) {
    for (const path of ['/mcp', '/main/mcp']) assert.deepEqual(await metadataOf(`/.well-known/oauth-protected-resource${prefix}${path}`), metadata(path));
  }
  for (const path of ['/mcp', '/base/mcp', '/base/main/mcp']) {
    const { status, headers } = await post(proxy.origin + path, toolCall('free'));
    assert.deepEqual([status, headers['www-authenticate']], [401, `Bearer scope="mcp", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/base${path.replace('/base', '')}"`]);
  }
  const open = await send(`${proxy.origin}/.well-known/oauth-protected-resource/base/mcp`, { method: 'OPTIONS', headers: { Origin: 'https://inspector.example', 'Access-Control-Request-Headers': 'mcp-protocol-version' } });
  assert.deepEqual([open.status, open.headers['access-control-allow-origin'], open.headers['access-control-allow-headers']], [204, '*', '*']);
  assert.equal((await send(`${proxy.origin}/.well-known/oauth-protected-resource/other`, { method: 'GET' })).status, 404);
  const token = await provider.token('ada', { audience: 'https://mcp.example.com/base/main/mcp' });
  assert.equal(await statusWith(`${proxy.origin}/base/mcp`, token), 200, 'both addresses of the one upstream are its own');
});

test('a token for one upstream is none for another; the file may name the audience for all and for one', async (t) => {
  const file = `
upstreams:
  one: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }] }
  two: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }] }
  own: { url: "\${UPSTREAM}", audience: "api://own", rules: [{ tools: [paid], requires: [key] }] }`;
  const statuses = async (origin: string, audience: string | string[]) => {
    const token = await provider.sign({ iss: provider.issuer, sub: 'ada', client_id: 'desk', aud: audience, exp: Math.floor(Date.now() / 1_000) + 600 });
    return Promise.all(['/one/mcp', '/two/mcp', '/own/mcp', '/mcp'].map((path) => statusWith(origin + path, token)));
  };
  const { origin } = (await startRightPerson(t, provider, { file })).proxy;
  assert.deepEqual(await statuses(origin, `${origin}/one/mcp`), [200, 401, 401, 404]);
  assert.deepEqual(await statuses(origin, ['x', `${origin}/two/mcp`]), [401, 200, 401, 404]);
  assert.deepEqual(await statuses(origin, 'api://own'), [401, 401, 200, 404]);
  assert.deepEqual(await statuses(origin, `${origin}/own/mcp`), [401, 401, 401, 404]);
  const all = (await startRightPerson(t, provider, { file, oauth: 'audience: [api://all, api://more]' })).proxy;
  assert.deepEqual(await statuses(all.origin, 'api://more'), [200, 200, 401, 404]);
  assert.deepEqual(await statuses(all.origin, 'api://own'), [401, 401, 200, 404]);
});

test('a missing scope is 403 insufficient_scope, and names the scopes as clients must ask for them', async (t) => {
  const { url, token, proxy } = await startRightPerson(t, provider, { oauth: 'requiredScopes: [mcp, files], advertiseScopes: ["api://elicitgate/mcp", "api://elicitgate/files"]' });
  const { status, headers } = await post(url, toolCall('free'), bearer(await token('ada')));
  const metadata = `${proxy.origin}/.well-known/oauth-protected-resource/mcp`;
  assert.deepEqual([status, headers['www-authenticate']], [403, `Bearer error="insufficient_scope", scope="api://elicitgate/mcp api://elicitgate/files", resource_metadata="${metadata}"`]);
  const { scopes_supported: named } = (await send(metadata, { method: 'GET' })).message as { readonly scopes_supported?: readonly string[] };
  assert.deepEqual(named, ['api://elicitgate/mcp', 'api://elicitgate/files']);
  assert.equal(await statusWith(url, await token('ada', { scope: 'files mcp' })), 200);
  const listed = await provider.sign({ iss: provider.issuer, sub: 'ada', aud: url, scp: ['mcp', 'files'], exp: Math.floor(Date.now() / 1_000) + 600 });
  assert.equal(await statusWith(url, listed), 200, 'scp as a list');
});

test('tokens that name no client are taken, and the log says once what that means (A29)', async (t) => {
  const { url, token, proxy } = await startRightPerson(t, provider);
  const warnings = () => proxy.log.filter((line) => line.includes('access tokens do not name their client')).map((line) => JSON.parse(line) as { readonly level: string; readonly issuer: string });
  assert.equal(await statusWith(url, await token('ada')), 200);
  const clientless = (sub: string, more: object = {}) => provider.sign({ iss: provider.issuer, sub, aud: url, exp: Math.floor(Date.now() / 1_000) + 600, ...more });
  assert.equal(await statusWith(url, await clientless('ada', { cid: 'desk' })), 200);
  assert.deepEqual(warnings(), []);
  for (const person of ['ada', 'ben']) assert.equal(await statusWith(url, await clientless(person)), 200);
  assert.deepEqual(warnings().map(({ level, issuer }) => [level, issuer]), [['warn', provider.issuer]]);
});

test('a checked token is kept until it expires, with 60 s for a clock that is off; a key that the issuer withdrew does not end it (B15)', async (t) => {
  const { url, token, proxy } = await startRightPerson(t, provider);
  const reads = () => provider.requests.filter((path) => path === '/jwks').length;
  const short = await token('ada', { expiresInSeconds: 600 });
  assert.equal(await statusWith(url, short), 200);
  const before = reads();
  for (let call = 0; call < 5; call += 1) assert.equal(await statusWith(url, short), 200);
  assert.equal(reads(), before);
  proxy.pass(600_000 + 30_000);
  assert.equal(await statusWith(url, short), 200, 'the issuer’s clock may be behind');
  proxy.pass(31_000);
  assert.equal(await statusWith(url, short), 401);
});

test('a clock that is 60 s off is taken, five minutes are not (B15)', async (t) => {
  const { url } = await startRightPerson(t, provider);
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const issuedAt = (offset: number) => provider.sign({ iss: provider.issuer, sub: 'ada', aud: url, nbf: nowSeconds + offset, iat: nowSeconds + offset, exp: nowSeconds + offset + 600 });
  const endedAt = (offset: number) => provider.sign({ iss: provider.issuer, sub: 'ada', aud: url, exp: nowSeconds + offset });
  assert.deepEqual(
    await Promise.all([issuedAt(55), endedAt(-50), issuedAt(300), endedAt(-300)].map(async (token) => statusWith(url, await token))),
    [200, 200, 401, 401],
  );
});

test('keys that are published before they are used fail nobody; a sudden change at most 30 s (B13)', async (t) => {
  const own = await startIdentityProvider();
  t.after(() => own.close());
  const { url, proxy } = await startRightPerson(t, own);
  const status = async () => statusWith(url, await own.token('ada', { audience: url }));
  assert.equal(await status(), 200);
  const oldTokens = await Promise.all(['ada', 'ben'].map((person) => own.token(person, { audience: url })));
  own.publishKey();
  proxy.pass(600_001);
  await status();
  await waitFor(() => own.requests.filter((path) => path === '/jwks').length === 2);
  own.switchKey();
  assert.equal(await status(), 200, 'the new key was read in the background');
  assert.equal(await statusWith(url, oldTokens[0] ?? ''), 200, 'the old key counts until the keys are read again');
  own.switchKey();
  assert.equal(await status(), 401, 'nothing is read so soon again');
  proxy.pass(30_000);
  assert.equal(await status(), 200);
  assert.equal(await statusWith(url, oldTokens[1] ?? ''), 401, 'a withdrawn key is forgotten');
});

async function waitFor(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise(setImmediate);
}

test('an issuer that is out of reach at the start is waited for: 503 for callers and logins, then all is well', async (t) => {
  const own = await startIdentityProvider();
  t.after(() => own.close());
  own.setReachable(false);
  const { url, proxy, link, client } = await startRightPerson(t, own);
  const token = await own.token('ada', { audience: url });
  const answer = await post(url, toolCall('free'), bearer(token));
  assert.deepEqual([answer.status, answer.message.error?.code, answer.headers['www-authenticate']], [503, 1503, undefined]);
  assert.equal(await statusWith(url, 'junk'), 401, 'what needs no issuer is refused at once');
  const login = await fetch(`${proxy.origin}/auth/login?return=account`, { redirect: 'manual' });
  assert.equal(login.status, 503);
  assert.match(await login.text(), /Signing in is not possible at the moment/);
  own.setReachable(true);
  assert.equal(await statusWith(url, token), 503, 'it is not asked at every call');
  proxy.pass(5_000);
  assert.equal(await statusWith(url, token), 200);
  const page = await fetch(await link(await client('ada')), { redirect: 'follow' });
  assert.match(page.url, new RegExp(`^${own.issuer}/interaction/`));
});

test('while an issuer is out of reach later, known keys and known tokens go on; an unknown key cannot be judged', async (t) => {
  const own = await startIdentityProvider();
  t.after(() => own.close());
  const { url, proxy } = await startRightPerson(t, own);
  const known = await own.token('ada', { audience: url });
  assert.equal(await statusWith(url, known), 200);
  own.setReachable(false);
  proxy.pass(fiveMinutes * 3);
  assert.equal(await statusWith(url, known), 200);
  assert.equal(await statusWith(url, await own.token('ben', { audience: url })), 200, 'signed with a known key');
  own.switchKey();
  const fresh = await own.token('ben', { audience: url });
  proxy.pass(30_000);
  assert.equal(await statusWith(url, fresh), 503);
  assert.equal(await statusWith(url, fresh), 503);
  own.setReachable(true);
  proxy.pass(30_000);
  assert.equal(await statusWith(url, fresh), 200);
});

test('a token that does not name its key is tried with each key of the issuer, and with no other (RFC 7515 §4.1.4)', async (t) => {
  const own = await startIdentityProvider();
  t.after(() => own.close());
  own.publishKey();
  own.publishKey();
  const { url } = await startRightPerson(t, own);
  const claims = { iss: own.issuer, sub: 'ada', aud: url, client_id: 'desk', exp: Math.floor(Date.now() / 1_000) + 600 };
  const nameless = await own.sign(claims, { kid: undefined });
  assert.equal((JSON.parse(Buffer.from(nameless.split('.')[0] ?? '', 'base64url').toString()) as { kid?: string }).kid, undefined);
  assert.equal(await statusWith(url, nameless), 200);
  own.switchKey();
  assert.equal(await statusWith(url, await own.sign({ ...claims, jti: 'by the second key' }, { kid: undefined })), 200);
  assert.equal(await statusWith(url, await provider.sign(claims, { kid: undefined })), 401, 'signed by another issuer');
});

test('an opaque token is the issuer’s to judge: asked once a minute, for this audience, never after its end', async (t) => {
  const oauth = 'introspection: { clientId: elicitgate, clientSecret: login-secret-1b7f }';
  const { url, token, proxy } = await startRightPerson(t, provider, { oauth });
  const asked = () => provider.requests.filter((path) => path === '/token/introspection').length;
  const before = asked();
  const opaque = await token('ada', { isOpaque: true, expiresInSeconds: 100 });
  assert.equal(opaque.includes('.'), false);
  for (let call = 0; call < 4; call += 1) assert.equal(await statusWith(url, opaque), 200);
  assert.equal(asked() - before, 1);
  proxy.pass(60_001);
  assert.equal(await statusWith(url, opaque), 200);
  assert.equal(asked() - before, 2);
  proxy.pass(60_000);
  assert.equal(await statusWith(url, opaque), 200, 'the issuer’s own clock has not moved');
  assert.equal(asked() - before, 3);
  assert.equal(await statusWith(url, 'guessed-opaque-token'), 401);
  assert.equal(await statusWith(url, await token('ada', { audience: 'https://other.example', isOpaque: true })), 401);
});

test('with pairwise subjects the claim that is the same everywhere finds the person; a valid token with an unknown session is 404 (H6)', async (t) => {
  const { url, client, token, proxy } = await startRightPerson(t, provider, { oauth: 'subjectClaim: uid' });
  const ada = await client('ada');
  await ada.call('paid');
  assert.deepEqual(proxy.audit.map(({ audit, issuer, subject, clientId }) => ({ audit, issuer, subject, clientId })), [{ audit: 'asked', issuer: provider.issuer, subject: 'uid-ada', clientId: 'desk' }]);
  const unknown = await post(url, toolCall('free'), { ...bearer(await token('ada')), 'Mcp-Session-Id': 'unknown' });
  assert.deepEqual([unknown.status, unknown.headers['www-authenticate']], [404, undefined]);
  const without = await provider.sign({ iss: provider.issuer, sub: 'ada', aud: url, exp: Math.floor(Date.now() / 1_000) + 600 });
  assert.equal(await statusWith(url, without), 401, 'a token without the claim names nobody');
  assert.match(proxy.log.join(''), /"reason":"without the claim uid"/);
});

test('a server stream ends with the token that opened it, and goes on when a new token takes it over', async (t) => {
  const upstream = await startRecorder(mcpServer({}));
  t.after(() => upstream.close());
  const { url, token, proxy } = await startRightPerson(t, provider);
  const open = async (expiresInSeconds: number) => connect(url, { capabilities: urlMode, headers: bearer(await token('ada', { expiresInSeconds })) });
  const client = await open(600);
  const authorization = bearer(await token('ada', { expiresInSeconds: 600 }));
  const first = await listen(client, authorization);
  const second = await listen(client, bearer(await token('ada', { expiresInSeconds: 3_600 })));
  assert.equal((await first.over).end, 'whole');
  proxy.pass(661_000);
  const other = await listen(await open(3_600), bearer(await token('ada', { expiresInSeconds: 700 })));
  proxy.pass(100_000);
  assert.equal((await other.over).end, 'whole');
  const longer = await listen(client, bearer(await token('ada', { expiresInSeconds: 7_200 })));
  assert.equal((await second.over).end, 'whole', 'taken over, not expired');
  proxy.pass(3_000_000);
  longer.close();
});
