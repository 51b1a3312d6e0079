import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGlobs } from '../../src/config/globs.ts';
import { matchUris } from '../../src/gateway/resource-names.ts';

function matcher(...source: readonly string[]): (uri: string) => boolean {
  const globs = parseGlobs(source);
  assert.ok(globs.ok);
  return matchUris(globs.value);
}

const isSecret = matcher('docs://vault/*', 'http://intern.example.com/report', 'note:secret');

test('a rule names the URIs that its globs match', () => {
  for (const uri of ['docs://vault/a', 'docs://vault/a/b', 'http://intern.example.com/report', 'note:secret']) assert.ok(isSecret(uri), uri);
});

test('a URI that a server may take for one that a rule names is named too', () => {
  const spellings = [
    'DOCS://vault/a',
    'docs://VAULT/a',
    'docs://vault/%61',
    'docs://v%61ult/a',
    'docs:%2F%2Fvault%2Fa',
    'docs://v%2561ult/a',
    'docs://public/../vault/a',
    'docs://public/x/../../vault/a',
    'docs://public/%2e%2E/vault/a',
    'docs://vault/./a',
    'docs://vault//a',
    'docs:\\\\vault\\a',
    'docs://vault/a?x=1',
    'docs://vault/a#x',
    'docs://me@vault/a',
    'docs://vault./a',
    'docs://\uff56ault/a',
    'docs://vault/a/',
    ' docs://vault/a',
    'HTTP://Intern.Example.Com:80/x/../report',
    'http:intern.example.com/report',
    'http:/intern.example.com/report',
    'http:///intern.example.com/report',
    'http://intern.example.com/report?',
    'http://intern.example.com/report/',
    'http://intern.example.com%2Freport',
    'NOTE:secret',
    'note:%73ecret',
    'note:./secret',
  ];
  for (const uri of spellings) assert.ok(isSecret(uri), uri);
});

test('what cannot be brought to one form counts as named', () => {
  let nested = 'x';
  for (let level = 0; level < 12; level += 1) nested = encodeURIComponent(`%${nested}`);
  for (const uri of ['docs://a%00b', 'docs://a%e2%80%8bb', 'docs://a%ff', `docs://${'a'.repeat(3_000)}?`, `docs://${nested}`]) assert.ok(isSecret(uri), uri);
});

test('other URIs are not named', () => {
  for (const uri of ['docs://public/a', 'docs://vaults/a', 'docs://vault-2/a', 'docs://public/vault/a', 'docs://public/a%20b?x=1#y', 'docs://public/vault/../a', 'https://intern.example.com:8080/report', 'note:secret-2', 'note:Secret']) assert.ok(!isSecret(uri), uri);
});

test('a name that is taken out stays out, but not under a form that leads back in', () => {
  const isNamed = matcher('docs://*', '!docs://Team%20A/public/*');
  for (const uri of ['docs://Team%20A/public/x', 'docs://team%20a/public/x', 'docs://Team A/public/x', 'docs://Team%20A/public/x%20y']) assert.ok(!isNamed(uri), uri);
  for (const uri of ['docs://Team%20A/private', 'docs://Team%20A/public/../private', 'docs://Team%20A/public/%2e%2e/private']) assert.ok(isNamed(uri), uri);
});

test('a glob in any spelling names the same URIs', () => {
  for (const glob of ['DOCS://Vault/*', 'docs://v%61ult/*']) {
    const isNamed = matcher(glob);
    for (const uri of ['docs://vault/a', 'docs://VAULT/a', 'docs://v%61ult/a']) assert.ok(isNamed(uri), `${glob} ${uri}`);
  }
  assert.ok(matcher('file:///srv/secret.txt')('file:/srv/x/../secret.txt'));
  assert.ok(matcher('file:///srv/secret.txt')('file://localhost/srv/secret.txt'));
});

test('a template is about every URI that it can make', () => {
  for (const template of ['docs://{folder}/{name}', 'docs://vault/{+path}', '{+uri}', 'docs://v{x}', 'http://{host}/report']) assert.ok(isSecret(template), template);
  for (const template of ['docs://public/{name}', 'other://{x}', 'docs://public/{']) assert.ok(!isSecret(template), template);
});
