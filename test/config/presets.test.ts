import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { presetNames } from '../../src/config/presets.ts';
import { configOf, fileOf } from './load-text.ts';

function credentialOf(context: TestContext, text: string) {
  const credential = configOf(context, fileOf({ credentials: `{ c: { kind: oauth, clientId: i, clientSecret: s, ${text} } }`, upstreams: '{ u: { url: "http://a" } }' })).credentials['c'];
  assert.ok(credential?.kind === 'oauth');
  return credential;
}

test('Each preset says where people go and what it is called, over https', (context) => {
  assert.deepEqual([...presetNames], ['github', 'google', 'microsoft', 'slack', 'atlassian', 'linear', 'notion', 'gitlab']);
  for (const name of presetNames) {
    const { title, issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = credentialOf(context, `preset: ${name}`);
    assert.notEqual(title[''], 'c');
    assert.ok(issuer !== undefined || (authorizationEndpoint !== undefined && tokenEndpoint !== undefined), name);
    for (const url of [issuer, authorizationEndpoint?.href, tokenEndpoint?.href, revocationEndpoint?.href]) assert.match(url ?? 'https://', /^https:\/\//);
  }
});

test('What the file says counts more than the preset, key by key', (context) => {
  const google = credentialOf(context, 'preset: google, title: Calendar, authorizationParams: { prompt: select_account }');
  assert.deepEqual(google.title, { '': 'Calendar' });
  assert.deepEqual({ ...google.authorizationParams }, { access_type: 'offline', prompt: 'select_account', include_granted_scopes: 'true' });
  assert.equal(google.issuer, 'https://accounts.google.com');
  assert.deepEqual(credentialOf(context, 'preset: github').clientAuth, { method: 'client_secret_post' });
  assert.deepEqual(credentialOf(context, 'preset: github, clientAuth: { method: client_secret_basic }').clientAuth, { method: 'client_secret_basic' });
});

test('A server of one’s own is not mixed with the addresses of the preset', (context) => {
  const own = credentialOf(context, 'preset: linear, authorizationEndpoint: "https://own.example/a", tokenEndpoint: "https://own.example/t"');
  assert.deepEqual([own.tokenEndpoint?.href, own.revocationEndpoint, own.scopeSeparator], ['https://own.example/t', undefined, 'comma']);
  assert.equal(credentialOf(context, 'preset: gitlab, issuer: "https://gitlab.example.com"').issuer, 'https://gitlab.example.com');
});

test('Where a refresh token needs a scope of its own, it is asked for beside those of the file', (context) => {
  assert.deepEqual(credentialOf(context, 'preset: microsoft, scopes: [Calendars.Read]').scopes, ['Calendars.Read', 'offline_access']);
  assert.deepEqual(credentialOf(context, 'preset: google, scopes: [openid]').scopes, ['openid']);
});
