/** Attacks with access tokens that are not what they should be (A22, B16). */
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';
import { queryObjects } from 'node:v8';
import { SignJWT, type JWTPayload } from 'jose';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { post, send, toolCall, type SentHeaders } from '../kit/mcp-client.ts';
import { bearer, startRightPerson, type RightPerson } from '../kit/right-person.ts';

const provider = await startIdentityProvider();
after(() => provider.close());

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claimsFor = (url: string): JWTPayload => ({ iss: provider.issuer, sub: 'ada', aud: url, client_id: 'desk', scope: 'mcp', iat: nowSeconds(), exp: nowSeconds() + 600 });
const without = (claims: JWTPayload, name: string): JWTPayload => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Each differs in one thing from a token that is taken. */
async function forgeries({ url }: RightPerson): Promise<Readonly<Record<string, string>>> {
  const claims = claimsFor(url);
  const good = await provider.sign(claims);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const { kid } = provider.publicKey();
  const pem = createPublicKey({ key: { ...provider.publicKey() }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const hmacInput = `${part({ alg: 'HS256', kid, typ: 'at+jwt' })}.${payload}`;
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const by = (claim: JWTPayload, head: Readonly<Record<string, unknown>> = {}) => new SignJWT(claim).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', ...head }).sign(other.privateKey);
  return {
    'alg none': `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    'alg None with a signature': `${part({ alg: 'None', kid, typ: 'at+jwt' })}.${payload}.${signature}`,
    'HS256 with the public key': `${hmacInput}.${createHmac('sha256', pem).update(hmacInput).digest('base64url')}`,
    'no signature': `${header}.${payload}.`,
    'another payload under the signature': `${header}.${part({ ...claims, sub: 'ben' })}.${signature}`,
    'a key of the forger under the known id': await by(claims, { kid }),
    'a key of the forger without an id': await by(claims),
    'a key of the forger in the header': await by(claims, { kid: 'mine', jwk: other.publicKey.export({ format: 'jwk' }) }),
    'a key of the forger by address': await by(claims, { kid: 'mine', jku: 'http://127.0.0.1:1/jwks' }),
    'another issuer': await provider.sign({ ...claims, iss: 'https://evil.example' }),
    'the issuer with a slash': await provider.sign({ ...claims, iss: `${provider.issuer}/` }),
    'no issuer': await provider.sign(without(claims, 'iss')),
    'no expiry': await provider.sign(without(claims, 'exp')),
    'expired five minutes ago': await provider.sign({ ...claims, exp: nowSeconds() - 300 }),
    'an expiry that is a text': await provider.sign({ ...claims, exp: '9999999999' as unknown as number }),
    'not valid before in five minutes': await provider.sign({ ...claims, nbf: nowSeconds() + 300 }),
    'no audience': await provider.sign(without(claims, 'aud')),
    'another audience': await provider.sign({ ...claims, aud: 'https://other.example/mcp' }),
    'the audience with more behind it': await provider.sign({ ...claims, aud: `${url}/more` }),
    'the origin as the audience': await provider.sign({ ...claims, aud: new URL(url).origin }),
    'no subject': await provider.sign(without(claims, 'sub')),
    'an empty subject': await provider.sign({ ...claims, sub: '' }),
    'a subject that is a list': await provider.sign({ ...claims, sub: ['ada'] as unknown as string }),
    'a client for itself': await provider.sign({ ...claims, sub: 'desk' }),
    'an id token': await provider.sign({ ...claims, nonce: 'n' }, { typ: 'JWT' }),
    'an id token of another flow': await provider.sign({ ...claims, at_hash: 'h' }, { typ: 'JWT' }),
    'a logout token': await provider.sign(claims, { typ: 'logout+jwt' }),
    'a proof of possession': await provider.sign(claims, { typ: 'dpop+jwt' }),
    'a critical extension': await provider.sign(claims, { crit: ['b65'], b65: true }),
    'no token at all': 'not-a-token',
    'an encrypted token': `${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`,
  };
}

test('every forged token is answered 401 with a challenge, on every route, and reaches nothing (A22)', async (t) => {
  const running = await startRightPerson(t, provider);
  const { url, upstream, proxy } = running;
  const forged = await forgeries(running);
  for (const [name, token] of Object.entries(forged)) {
    const answer = await post(url, toolCall('free'), bearer(token));
    assert.deepEqual(
      [answer.status, answer.headers['www-authenticate'], answer.message.error?.code],
      [401, `Bearer error="invalid_token", resource_metadata="${new URL(url).origin}/.well-known/oauth-protected-resource/mcp"`, -32600],
      name,
    );
    for (const method of ['GET', 'DELETE']) assert.equal((await send(url, { method, headers: bearer(token) })).status, 401, `${method} ${name}`);
  }
  assert.deepEqual(upstream.requests, []);
  assert.equal((await post(url, toolCall('free'), bearer(await provider.sign(claimsFor(url))))).status, 200, 'the token from which they differ is taken');
  const log = proxy.log.join('');
  for (const [name, token] of Object.entries(forged)) assert.equal(log.includes(token), false, name);
});

test('a token in the address, in the body, in a cookie, beside another, or in another scheme is nobody’s (A22)', async (t) => {
  const { url, token, upstream } = await startRightPerson(t, provider);
  const good = await token('ada');
  const ways: readonly (readonly [path: string, headers: SentHeaders])[] = [
    [`?access_token=${good}`, {}],
    ['', { Cookie: `access_token=${good}` }],
    ['', { 'X-Authorization': `Bearer ${good}` }],
    ['', { Authorization: [`Bearer ${good}`, `Bearer ${await token('ben')}`] }],
    ['', { Authorization: [`Bearer ${good}`, `Bearer ${good}`] }],
    ['', { Authorization: `Basic ${good}` }],
    ['', { Authorization: `DPoP ${good}` }],
    ['', { Authorization: good }],
    ['', { Authorization: `Bearer ${good}, Bearer ${good}` }],
    ['', { Authorization: `Bearer "${good}"` }],
    ['', { Authorization: 'Bearer' }],
    ['', { Authorization: '' }],
    ['', {}],
  ];
  for (const [query, headers] of ways) {
    const { status, headers: answered } = await post(url + query, toolCall('free'), headers);
    assert.deepEqual([status, answered['www-authenticate']], [401, `Bearer resource_metadata="${new URL(url).origin}/.well-known/oauth-protected-resource/mcp"`], JSON.stringify(headers));
  }
  assert.deepEqual(upstream.requests, []);
  assert.equal((await post(url, toolCall('free'), { authorization: `bearer  ${good}` })).status, 200, 'the scheme has no case');
});

test('a flood of unknown key ids makes the keys be read at most once in 30 s (A22)', async (t) => {
  const { url, proxy, token } = await startRightPerson(t, provider);
  assert.equal((await post(url, toolCall('free'), bearer(await token('ada')))).status, 200);
  const reads = () => provider.requests.filter((path) => path === '/jwks').length;
  const before = reads();
  const flood = async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => provider.sign(claimsFor(url), { kid: `unknown-${index}-${Math.random()}` })));
    const answers = await Promise.all(tokens.map((one) => post(url, toolCall('free'), bearer(one))));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401]);
  };
  await flood();
  assert.equal(reads() - before, 0, 'they were read a moment ago');
  proxy.pass(30_000);
  await flood();
  await flood();
  assert.equal(reads() - before, 1);
  proxy.pass(30_000);
  await flood();
  assert.equal(reads() - before, 2);
  assert.equal((await post(url, toolCall('free'), bearer(await token('ada')))).status, 200, 'honest people go on');
});

test('the log says which issuer and audience were expected and which were found', async (t) => {
  const { url, proxy } = await startRightPerson(t, provider);
  const line = async (claims: JWTPayload) => {
    const before = proxy.log.length;
    await post(url, toolCall('free'), bearer(await provider.sign(claims)));
    const { reason, expectedIssuer, expectedAudience, foundIssuer, foundAudience } = JSON.parse(proxy.log.slice(before).find((one) => one.includes('was refused')) ?? '{}') as Record<string, unknown>;
    return { reason, expectedIssuer, expectedAudience, foundIssuer, foundAudience };
  };
  const expected = { expectedIssuer: provider.issuer, expectedAudience: [url.replace('/mcp', '/main/mcp'), url] };
  const claims = claimsFor(url);
  assert.deepEqual(await line({ ...claims, iss: 'https://id.example/tenant' }), { reason: 'ERR_JWT_CLAIM_VALIDATION_FAILED', ...expected, foundIssuer: 'https://id.example/tenant', foundAudience: url });
  assert.deepEqual(await line({ ...claims, aud: ['api://1', 'api://2'] }), { reason: 'for another audience', ...expected, foundIssuer: provider.issuer, foundAudience: 'api://1 api://2' });
  const long = await line({ ...claims, aud: 'x'.repeat(5_000) });
  assert.equal(String(long.foundAudience).length, 200, 'what a stranger wrote is cut');
});

test('refused requests leave neither records nor audit lines, and memory stays flat (B16)', async (t) => {
  const { url, proxy, upstream, token } = await startRightPerson(t, provider);
  const kinds = [await provider.sign({ ...claimsFor(url), aud: 'https://other.example' }), await provider.sign({ ...claimsFor(url), exp: 1 }), 'junk', ''];
  const refuse = async (count: number) => {
    for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => post(url, toolCall('paid'), bearer(kinds[index % kinds.length] ?? ''))));
  };
  const heapUsed = (): number => {
    // Looking for any object collects the garbage first.
    queryObjects(Map, { format: 'count' });
    return process.memoryUsage().heapUsed;
  };
  await refuse(200);
  const before = heapUsed();
  await refuse(1_000);
  const growth = heapUsed() - before;
  assert.ok(growth < 20_000_000, `${growth} bytes`);
  assert.deepEqual([proxy.audit, upstream.requests], [[], []]);
  assert.equal((await post(url, toolCall('free'), bearer(await token('ada')))).status, 200);
});
