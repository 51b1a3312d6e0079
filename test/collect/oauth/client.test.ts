/** Who this installation is at a third party: its metadata documents and keys, a key of the file, a registration. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, exportJWK, importJWK, jwtVerify } from 'jose';
import { createClientKeys } from '../../../src/collect/oauth/client-keys.ts';
import { createClientRegistry, type Installation } from '../../../src/collect/oauth/client.ts';
import type { ServerMetadata } from '../../../src/collect/oauth/server-metadata.ts';
import { createMemoryStore } from '../../../src/stores/memory.ts';
import { createKeyRing } from '../../../src/vault/key-ring.ts';
import { headingOf, startAccount } from '../../kit/account-setup.ts';
import { startProtectedMcp } from '../../kit/protected-mcp.ts';
import { startProxy } from '../../kit/proxy.ts';
import { startThirdParty } from '../../kit/third-party.ts';
import { createWebVisitor } from '../../kit/web-visitor.ts';

const publicUrl = 'https://mcp.example.com';

test('a third party that reads client metadata documents knows us by ours, and our signed proof (private_key_jwt)', async (t) => {
  let proxyOrigin = '';
  const third = await startThirdParty({ host: '127.0.0.1', fetch: (url) => fetch((typeof url === 'string' ? url : new URL(url instanceof URL ? url : url.url).href).replace(publicUrl, proxyOrigin)) });
  const upstream = await startProtectedMcp(third);
  after(() => Promise.all([third.close(), upstream.close()]));
  const proxy = await startProxy(`
server: { listen: "\${LISTEN}", publicUrl: "${publicUrl}", admin: false, drain: 1s }
identity: { proxyHeaders: { user: X-User, issuer: "https://sso.example.com", secretHeader: X-Secret, secret: opensesame } }
credentials: { own: { kind: oauth, title: Notes, discover: upstream, inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams: { notes: { url: "${upstream.url}", attach: always, rules: [{ tools: [whoami], requires: [own] }] } }
outbound: { allow: [127.0.0.1] }`);
  t.after(() => proxy.close());
  proxyOrigin = proxy.origin;
  const document = (await (await fetch(`${proxy.origin}/client.json`)).json()) as Readonly<Record<string, unknown>>;
  assert.deepEqual(document, {
    client_id: `${publicUrl}/client.json`,
    client_name: 'Elicitgate',
    application_type: 'web',
    redirect_uris: [`${publicUrl}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: `${publicUrl}/client-jwks.json`,
    token_endpoint_auth_signing_alg: 'ES256',
  });
  const jwks = (await (await fetch(`${proxy.origin}/client-jwks.json`)).json()) as { readonly keys: readonly Readonly<Record<string, string>>[] };
  assert.deepEqual(jwks.keys.map((key) => Object.keys(key).sort()), [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]);

  const person = { 'x-user': 'ada', 'x-secret': 'opensesame' };
  const ada = createWebVisitor();
  const account = await ada.ask(`${proxy.origin}/account`, { headers: person });
  const csrf = (html: string) => /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const post = async (url: string, fields: Readonly<Record<string, string>>) => (await ada.ask(url, { method: 'POST', body: new URLSearchParams(fields), headers: { ...person, origin: publicUrl } })).headers.get('location') ?? '';
  const link = (await post(account.url, { csrf: csrf(account.html), action: 'connect', upstream: 'notes', credential: 'own' })).replace(publicUrl, proxy.origin);
  const page = await ada.ask(link, { headers: person });
  const address = await post(link, { csrf: csrf(page.html), action: 'give' });
  assert.equal(new URL(address).searchParams.get('client_id'), `${publicUrl}/client.json`);
  const atThird = createWebVisitor();
  let answer = await atThird.ask(address);
  for (let step = 0; step < 8 && !(answer.headers.get('location') ?? '').startsWith(publicUrl); step += 1) {
    const next = answer.headers.get('location');
    const form = /<form[^>]*action="([^"]*)"/.exec(answer.html)?.[1] ?? '';
    if (answer.status >= 400) assert.fail(answer.html);
    answer = next === null ? await atThird.ask(new URL(form, answer.url).href, { method: 'POST', body: new URLSearchParams({ prompt: 'login', login: 'ada-at-third', password: 'x' }) }) : await atThird.ask(new URL(next, answer.url).href);
  }
  const done = await ada.ask((answer.headers.get('location') ?? '').replace(publicUrl, proxy.origin), { headers: person });
  assert.equal(headingOf(done), 'Notes is connected');
  const proof = third.tokenRequests('authorization_code')[0]?.get('client_assertion') ?? '';
  assert.equal(decodeProtectedHeader(proof).alg, 'ES256');
  const [key = {}] = jwks.keys;
  const { payload } = await jwtVerify(proof, await importJWK(key, 'ES256'), { issuer: `${publicUrl}/client.json`, subject: `${publicUrl}/client.json`, audience: third.issuer });
  assert.equal(typeof payload.jti, 'string');
  assert.equal(third.requests.some(({ path }) => path === '/reg'), false);
});

test('a key of the file proves the client, and a file that is no key stops the start', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const path = join(folder, 'client.pem');
  writeFileSync(path, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const jwk = await exportJWK(publicKey);
  const third = await startThirdParty({ with: { clients: [{ client_id: 'signed', application_type: 'native', grant_types: ['authorization_code', 'refresh_token'], redirect_uris: ['http://127.0.0.1/oauth/callback'], token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256', jwks: { keys: [{ ...jwk, kty: 'EC', kid: 'one', alg: 'ES256', use: 'sig' }] } }] } });
  t.after(() => third.close());
  const { connect } = await startAccount(t, { account: `issuer: "${third.issuer}", clientId: signed, clientAuth: { method: private_key_jwt, key: "${path}", keyId: one }, scopes: [read]` });
  assert.equal(headingOf(await connect()), 'Box is connected');
  const proof = third.tokenRequests('authorization_code')[0]?.get('client_assertion') ?? '';
  assert.deepEqual([decodeProtectedHeader(proof).kid, decodeJwt(proof).sub], ['one', 'signed']);
  writeFileSync(path, 'no key');
  await assert.rejects(startAccount(t, { account: `issuer: "${third.issuer}", clientId: signed, clientAuth: { method: private_key_jwt, key: "${path}" }` }), /clientAuth\.key is no private key that can be read/);
});

test('the keys come from the vault’s: the same in every replica, one for each, the first one signs', async () => {
  const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const one = await createClientKeys(createKeyRing([a]));
  const both = await createClientKeys(createKeyRing([b, a]));
  assert.deepEqual(both.jwks.keys[1], one.jwks.keys[0]);
  assert.equal(both.current.keyId, both.jwks.keys[0]?.['kid']);
  assert.equal(JSON.stringify(both.jwks).includes('"d"'), false);
});

const provider: ServerMetadata = { issuer: 'https://as.example.com', authorization_endpoint: 'https://as.example.com/a', token_endpoint: 'https://as.example.com/t', registration_endpoint: 'https://as.example.com/r' };
const installation: Installation = { name: 'Elicitgate', redirectUri: 'https://mcp.example.com/oauth/callback' };
const documents = { signed: 'https://mcp.example.com/client.json', plain: 'https://mcp.example.com/client-public.json', jwks: 'https://mcp.example.com/client-jwks.json' };

function registry(answer: unknown, more: Partial<Installation> = {}, store = createMemoryStore(Date.now), now = Date.now) {
  const asked: Readonly<Record<string, unknown>>[] = [];
  const ring = createKeyRing([Buffer.alloc(32, 1)]);
  const clients = createClientRegistry({ ...installation, ...more }, store, ring, 'default', async (_url, init) => {
    asked.push(JSON.parse(String(init?.body)) as Readonly<Record<string, unknown>>);
    return Response.json(answer, { status: 201 });
  }, now);
  return { clients, asked, store };
}

test('a document is preferred to a registration where the third party reads documents and takes one of our proofs', async () => {
  const reading = { ...provider, client_id_metadata_document_supported: true };
  const { clients, asked } = registry({ client_id: 'r' }, { documents });
  const idWith = async (methods: readonly string[]) => {
    const known = await clients.introduce({ ...reading, token_endpoint_auth_methods_supported: [...methods] });
    return known.ok ? [known.value.clientId, known.value.method] : known.error;
  };
  assert.deepEqual(await idWith(['none', 'private_key_jwt']), [documents.signed, 'private_key_jwt']);
  assert.deepEqual(await idWith(['none']), [documents.plain, 'none']);
  assert.equal(asked.length, 0);
  assert.deepEqual(await idWith(['client_secret_basic']), ['r', 'none']);
  assert.equal(asked.length, 1);
});

test('a registration is kept for its issuer, sealed, and made anew for another redirect address, issuer, or when its secret ends', async () => {
  let time = Date.UTC(2026, 10, 30);
  const answer = { client_id: 'r1', client_secret: 'registered-secret-77', client_secret_expires_at: time / 1_000 + 3_600 };
  const { clients, asked, store } = registry(answer, {}, createMemoryStore(() => time), () => time);
  await Promise.all([clients.introduce(provider), clients.introduce(provider)]);
  await clients.introduce(provider);
  assert.equal(asked.length, 1);
  for (const { value } of await store.list('')) assert.equal(Buffer.from(value).includes('registered-secret-77'), false);
  await clients.introduce({ ...provider, issuer: 'https://other.example.com' });
  assert.equal(asked.length, 2);
  const moved = registry(answer, { redirectUri: 'https://moved.example.com/oauth/callback' }, store, () => time);
  await moved.clients.introduce(provider);
  assert.equal(moved.asked.length, 1);
  time += 3_600_000;
  await moved.clients.introduce(provider);
  assert.equal(moved.asked.length, 2);
  await moved.clients.forget(provider.issuer);
  await moved.clients.introduce(provider);
  assert.equal(moved.asked.length, 3);
});

test('a third party to which nobody can be introduced is said to need a client of the file', async () => {
  const { registration_endpoint: _none, ...closed } = provider;
  const known = await registry({}).clients.introduce(closed);
  assert.match(known.ok ? '' : known.error.what, /clientId must be in the file/);
  for (const answer of [{}, [], { client_id: '' }, { client_id: 7 }]) assert.equal((await registry(answer).clients.introduce(provider)).ok, false);
});
