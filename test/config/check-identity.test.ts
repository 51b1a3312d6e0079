import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, fileOf, problemsOf } from './load-text.ts';

test('There is exactly one way to know who calls', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ identity: '{}' })), [
    '2:1 identity: none of oauth, jwtHeader, proxyHeaders, local; exactly one of them',
  ]);
  const two = '{ local: {}, jwtHeader: { header: X-Jwt, issuer: "https://a.example", audience: b } }';
  assert.deepEqual(problemsOf(context, fileOf({ identity: two })), [
    '2:1 identity: jwtHeader and local; exactly one of oauth, jwtHeader, proxyHeaders, local',
  ]);
});

test('One local person listens on loopback only', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ server: '{ listen: "0.0.0.0:8080", publicUrl: "http://localhost:8080" }' })), [
    '6:19 server.listen: an address that is not loopback, with identity.local; 127.0.0.1:PORT; or identity.local.container: true in a container whose port is published on loopback only',
  ]);
});

test('In a container one local person may listen on every address, and types localhost', (context) => {
  const config = configOf(context, fileOf({ identity: '{ local: { container: true } }', server: '{ listen: "0.0.0.0:8080" }' }));
  assert.equal(config.server.publicUrl.href, 'http://localhost:8080/');
  assert.deepEqual(config.identity.local, { user: 'me', container: true });
});

test('One local person is never behind a public address, not even in a container', (context) => {
  for (const local of ['{}', '{ container: true }']) {
    const problems = problemsOf(context, fileOf({ identity: `{ local: ${local} }`, vault: '{ store: "sqlite:x.db", keys: ["BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="] }', server: '{ publicUrl: "https://mcp.example.com" }' }));
    assert.deepEqual(problems, [
      '6:22 server.publicUrl: an address that is not loopback, with identity.local; http://localhost:PORT; with identity.local everyone who reaches it is the same person: use oauth, jwtHeader or proxyHeaders for others',
    ]);
  }
});

test('Issuers speak https unless they are on this machine', (context) => {
  const identity = (issuer: string) => fileOf({ identity: `{ oauth: { issuer: "${issuer}", login: { clientId: e } } }` });
  assert.deepEqual(problemsOf(context, identity('http://id.example.com')), [
    '2:30 identity.oauth.issuer: http on an address that is not loopback; https',
  ]);
  assert.deepEqual(problemsOf(context, identity('http://127.0.0.1:4000/realm')), []);
});

test('With access tokens, people need a login for the pages', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ identity: '{ oauth: { issuer: "https://id.example.com" } }' })), [
    '2:13 identity.oauth.login: missing; the client with which people log in on the pages, or identity.pages',
  ]);
});

test('Headers of a proxy are believed from trusted addresses or with a secret, never from anyone', (context) => {
  const identity = (more: string) => fileOf({ identity: `{ proxyHeaders: { user: X-User, issuer: "https://sso.example.com"${more} } }` });
  assert.deepEqual(problemsOf(context, identity('')), [
    '2:13 identity.proxyHeaders: anyone could send these headers; server.trustedProxies, or secretHeader and secret',
  ]);
  assert.deepEqual(problemsOf(context, identity(', secretHeader: X-Secret')), [
    '2:13 identity.proxyHeaders.secret: missing; secret and secretHeader together',
    '2:13 identity.proxyHeaders: anyone could send these headers; server.trustedProxies, or secretHeader and secret',
  ]);
  assert.deepEqual(problemsOf(context, identity(', secretHeader: X-Secret, secret: s')), []);
  assert.deepEqual(problemsOf(context, `${identity('')}server: { trustedProxies: [10.0.0.0/8] }\n`), []);
});

test('Callers and browsers are known by one issuer, or nobody would be the same person', (context) => {
  const identity = (pages: string) => fileOf({ identity: `{ oauth: { issuer: "https://id.example.com" }, pages: ${pages} }`, server: '{ trustedProxies: [10.0.0.0/8] }' });
  assert.deepEqual(problemsOf(context, identity('{ proxyHeaders: { user: X-User, issuer: "https://sso.example.com" } }')), [
    '2:105 identity.pages.proxyHeaders.issuer: another issuer than that of the callers, so nobody would be the same person; https://id.example.com, as for the callers',
  ]);
  assert.deepEqual(problemsOf(context, identity('{ proxyHeaders: { user: X-User, issuer: "https://id.example.com" } }')), []);
});

test('A login without openid would not say who logged in', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ identity: '{ oauth: { issuer: "https://id.example.com", login: { clientId: e, scopes: [profile] } } }' })), [
    '2:78 identity.oauth.login.scopes: without openid; openid among them; without it the issuer does not say who logged in',
  ]);
});
