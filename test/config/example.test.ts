import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { unbuilt } from '../../src/config/unbuilt.ts';
import { aKey, folderWith } from './load-text.ts';

const shipped = (name: string) => fileURLToPath(new URL(`../../config/${name}`, import.meta.url));

const env = {
  ELICITGATE_KEY: aKey,
  LOGIN_SECRET: 'login',
  GOOGLE_ID: 'google-id',
  GOOGLE_SECRET: 'google-secret',
  STRIPE_KEY: 'sk_test',
  STRIPE_WEBHOOK: 'whsec_test',
  DISCOVERY_TOKEN: 'discovery',
};

function load(path: string, variables: Readonly<Record<string, string>> = env): Config {
  const result = loadConfig([path], variables);
  assert.ok(result.ok, result.ok ? '' : result.error.map(formatProblem).join('\n'));
  return result.value;
}

test('The whole example loads where it ships', () => {
  const config = load(shipped('example.yaml'));
  assert.deepEqual(Object.keys(config.credentials), ['github', 'jira', 'brave', 'calendar', 'linear', 'search-pack']);
  assert.deepEqual(Object.keys(config.upstreams), ['github', 'brave']);
  assert.equal(config.server.publicUrl.href, 'https://mcp.example.com/');
  assert.equal(config.outbound.proxy, undefined);
});

test('The whole example loads with its files beside it, as the documentation prints it', (context) => {
  const text = readFileSync(shipped('example.yaml'), 'utf8')
    .replace('cwd: ./example', 'cwd: ./work')
    .replace('ca: ./example/company-ca.pem', 'ca: ./company-ca.pem')
    .replace('logo: ./example/logo.svg', 'logo: ./logo.svg');
  const folder = folderWith(context, { 'elicitgate.yaml': text, 'company-ca.pem': 'a', 'logo.svg': '<svg/>', 'work/.keep': '' });
  const config = load(join(folder, 'elicitgate.yaml'));
  const brave = config.upstreams['brave'];
  assert.equal(brave?.transport === 'stdio' && brave.cwd, join(folder, 'work'));
});

test('The whole example says by name what is missing from its environment', () => {
  const result = loadConfig([shipped('example.yaml')], {});
  assert.deepEqual(result.ok ? [] : result.error.map(({ path, found }) => `${path}: ${found}`), [
    'identity.oauth.login.clientSecret: the environment variable LOGIN_SECRET is not set',
    'vault.keys[0]: the environment variable ELICITGATE_KEY is not set',
    'credentials.calendar.clientId: the environment variable GOOGLE_ID is not set',
    'credentials.calendar.clientSecret: the environment variable GOOGLE_SECRET is not set',
    'payments.stripe.secretKey: the environment variable STRIPE_KEY is not set',
    'payments.stripe.webhookSecret: the environment variable STRIPE_WEBHOOK is not set',
    'upstreams.github.headers.Authorization: the environment variable DISCOVERY_TOKEN is not set',
  ]);
});

test('The smallest example needs one key and nothing that is not built', () => {
  assert.deepEqual(unbuilt(load(shipped('minimal.yaml'), { ELICITGATE_KEY: aKey })), []);
});
