import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { configOf, fileOf } from './load-text.ts';

function shape(context: TestContext, credential: string): string {
  const file = fileOf({ credentials: `{ k: ${credential} }`, upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp" } }' });
  return configOf(context, file).credentials['k']?.shape ?? '';
}

test('What has no title or label is called by its name', (context) => {
  const config = configOf(context, fileOf());
  const credential = config.credentials['k'];
  assert.equal(credential?.name, 'k');
  assert.deepEqual(credential.title, { '': 'k' });
  assert.deepEqual(credential.kind === 'apiKey' && credential.fields[0]?.label, { '': 'token' });
  assert.equal(config.upstreams['u']?.name, 'u');
  assert.deepEqual(config.upstreams['u'].title, { '': 'u' });
});

test('Texts by language and plain texts have one form', (context) => {
  const config = configOf(context, fileOf({ pages: '{ name: { en: Example, de: Beispiel }, links: [{ title: Privacy, url: "https://e.example/p" }] }' }));
  assert.deepEqual(config.pages.name, { en: 'Example', de: 'Beispiel' });
  assert.deepEqual(config.pages.links, [{ title: { '': 'Privacy' }, url: 'https://e.example/p' }]);
});

test('Patterns, globs and templates are compiled', (context) => {
  const config = configOf(
    context,
    fileOf({
      credentials: "{ k: { kind: apiKey, fields: [{ name: token, pattern: '^a+$' }], inject: { headers: { X-Key: 'Bearer {token}' } } } }",
      upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp", rules: [{ tools: ["get_*", "!get_me"], requires: [k] }] } }',
    }),
  );
  const credential = config.credentials['k'];
  assert.ok(credential?.kind === 'apiKey');
  assert.equal(credential.fields[0]?.pattern?.test('aaa'), true);
  assert.equal(credential.inject.headers['X-Key']?.render({ token: 't' }), 'Bearer t');
  assert.equal(config.upstreams['u']?.rules[0]?.tools?.matches('get_me'), false);
  assert.equal(config.upstreams['u'].rules[0].tools.matches('get_you'), true);
});

test('An empty proxy is none', (context) => {
  assert.equal(configOf(context, fileOf({ outbound: '{ proxy: "${HTTPS_PROXY:-}" }' })).outbound.proxy, undefined);
  const config = configOf(context, fileOf({ outbound: '{ proxy: "${HTTPS_PROXY:-}" }' }), { HTTPS_PROXY: 'http://proxy:3128' });
  assert.equal(config.outbound.proxy?.href, 'http://proxy:3128/');
});

test('A stored secret fits as long as kind and fields stay, whatever the words and the order', (context) => {
  const first = shape(context, '{ kind: apiKey, title: A, fields: [{ name: a, label: A }, { name: b }] }');
  assert.equal(first, 'ZQQy2PI7CgG-vaFY1qeUgB');
  assert.equal(shape(context, '{ kind: apiKey, title: B, help: "https://h.example", fields: [{ name: b, hint: h }, { name: a }] }'), first);
  assert.notEqual(shape(context, '{ kind: apiKey, fields: [{ name: a }] }'), first);
  assert.notEqual(shape(context, '{ kind: apiKey, fields: [{ name: a }, { name: c }] }'), first);
});

test('A connected account fits as long as issuer, addresses, client and scopes stay', (context) => {
  const account = (more: string) => shape(context, `{ kind: oauth, issuer: "https://a.example", clientId: c, scopes: [x, y]${more} }`);
  const first = account('');
  assert.equal(account(', title: Other, clientSecret: s'), first);
  for (const other of [
    '{ kind: oauth, issuer: "https://b.example", clientId: c, scopes: [x, y] }',
    '{ kind: oauth, issuer: "https://a.example", clientId: d, scopes: [x, y] }',
    '{ kind: oauth, issuer: "https://a.example", clientId: c, scopes: [x] }',
  ]) {
    assert.notEqual(shape(context, other), first);
  }
  assert.notEqual(account(', tokenEndpoint: "https://a.example/token"'), first);
});
