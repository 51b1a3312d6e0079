import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileOf, problemsOf } from './load-text.ts';

/** A file with one credential `c`, which no rule asks for. */
function withCredential(credential: string, more: Readonly<Record<string, string>> = {}): string {
  return fileOf({ credentials: `\n  c: ${credential}`, upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp" } }', ...more });
}

test('Each field has a name of its own that the page does not use itself', (context) => {
  const fields = '[{ name: token }, { name: token }, { name: csrf }, { name: "a b" }]';
  assert.deepEqual(problemsOf(context, withCredential(`{ kind: apiKey, fields: ${fields} }`)), [
    '5:89 credentials.c.fields[3].name: "a b"; a field name: letters, digits, - and _, beginning with a letter',
  ]);
  assert.deepEqual(problemsOf(context, withCredential(`{ kind: apiKey, fields: ${fields.replace('"a b"', 'other')} }`)), [
    '5:56 credentials.c.fields[1].name: token, a second time; a name of its own for each field',
    '5:73 credentials.c.fields[2].name: csrf, which the page uses itself; another name',
  ]);
});

test('An unknown kind, no fields and an unreadable pattern are refused', (context) => {
  assert.deepEqual(problemsOf(context, withCredential('{ kind: apikey, fields: [] }')), [
    '5:14 credentials.c.kind: "apikey"; apiKey, oauth or payment',
  ]);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: apiKey, fields: [] }')), ['5:22 credentials.c.fields: an empty list; at least one entry']);
  assert.deepEqual(problemsOf(context, withCredential("{ kind: apiKey, fields: [{ name: t, pattern: '(?=x)' }] }")), [
    '5:51 credentials.c.fields[0].pattern: "(?=x)"; a pattern in RE2 syntax (no look-around, no back-references; a leading (?i) ignores case)',
  ]);
});

test('A key of another kind of credential is said to belong there', (context) => {
  assert.deepEqual(problemsOf(context, withCredential('{ kind: apiKey, fields: [{ name: t }], scopes: [a] }')), [
    '5:45 credentials.c.scopes: an unknown key; it belongs to kind: oauth',
  ]);
});

test('A connected account says where it is and who we are there', (context) => {
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth }')), [
    '5:3 credentials.c.issuer: missing; issuer, or authorizationEndpoint and tokenEndpoint, or preset, or discover: upstream',
    '5:3 credentials.c.clientId: missing; the client id that the third party gave to this installation',
  ]);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth, discover: upstream }')), []);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth, discover: upstream, shared: true }')), [
    '5:49 credentials.c.shared: true, with discover: upstream; false: each upstream names its own issuer',
  ]);
});

test('A payment grants something, and its provider can take it', (context) => {
  const payment = (provider: string, grants: string) => `{ kind: payment, provider: ${provider}, price: { amount: 500, currency: USD }, grants: ${grants} }`;
  assert.deepEqual(problemsOf(context, withCredential(payment('stripe', '{}'))), [
    '1:1 payments.stripe: missing; secretKey and webhookSecret, because credentials.c has provider: stripe',
    '5:80 credentials.c.grants: an empty map; calls, for, or both',
  ]);
  assert.deepEqual(problemsOf(context, withCredential(payment('sandbox', '{ calls: 5 }'))), []);
});

test('Sandbox payments are for this machine only', (context) => {
  const payment = '{ kind: payment, provider: sandbox, price: { amount: 500, currency: USD }, grants: { calls: 1 } }';
  const more = {
    identity: '{ oauth: { issuer: "https://id.example.com", login: { clientId: e } } }',
    vault: '{ keys: ["BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="] }',
    server: '{ publicUrl: "https://mcp.example.com" }',
  };
  assert.deepEqual(problemsOf(context, withCredential(payment, more)), [
    '5:33 credentials.c.provider: sandbox behind a public address; stripe or webhook; sandbox takes no money and is for loopback only',
  ]);
});

test('Names of credentials can stand in links and logs', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ credentials: '{ "a b": { kind: oauth } }', upstreams: '{ u: { url: "http://a" } }' })), [
    '4:16 credentials.a b: a name that cannot stand here; a name of at most 64 letters, digits, - and _, beginning with a letter or digit',
  ]);
});

test('A client has the proof that its method needs, and nothing sets what Elicitgate sets itself', (context) => {
  const account = (more: string) => problemsOf(context, withCredential(`{ kind: oauth, issuer: "https://a.example", clientId: c${more} }`)).map((problem) => problem.replace(/^[\d:]+ /, ''));
  assert.deepEqual(account(''), []);
  assert.deepEqual(account(', clientSecret: s, clientAuth: { method: client_secret_post }'), []);
  assert.deepEqual(account(', clientAuth: { method: client_secret_post }'), ['credentials.c.clientSecret: missing; the secret that belongs to clientId']);
  assert.deepEqual(account(', clientSecret: s, clientAuth: { method: none }'), ['credentials.c.clientAuth: clientSecret and clientAuth.method: none; one of them']);
  assert.deepEqual(account(', authorizationParams: { state: x }'), ['credentials.c.authorizationParams.state: state, which Elicitgate sets itself; another parameter']);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth, preset: github, clientId: c }')), [
    '5:3 credentials.c.clientSecret: missing; the secret that belongs to clientId, or clientAuth: { method: none } for a public client',
  ]);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth, discover: upstream, issuer: "https://a.example" }')), [
    '5:31 credentials.c.discover: discover: upstream beside a third party that the file names; one of them',
  ]);
  assert.deepEqual(problemsOf(context, withCredential('{ kind: oauth, tokenEndpoint: "https://a.example/t", clientId: c }')), [
    '5:3 credentials.c.authorizationEndpoint: missing; authorizationEndpoint and tokenEndpoint together',
  ]);
});

test('A program cannot be asked who protects it', (context) => {
  const file = fileOf({
    credentials: '{ c: { kind: oauth, discover: upstream, inject: { meta: { token: "{access_token}" } } } }',
    upstreams: '{ u: { transport: stdio, command: node, trusted: true, rules: [{ tools: ["*"], requires: [c] }] } }',
  });
  assert.match(problemsOf(context, file).join('\n'), /upstreams\.u\.rules\[0\]\.requires: c, with discover: upstream, for a program; a credential that names its third party/);
});
