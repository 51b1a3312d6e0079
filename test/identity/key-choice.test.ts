/** Tokens that do not say which of the issuer's keys signed them (RFC 7515 §4.1.4). */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { post, toolCall } from '../kit/mcp-client.ts';
import { bearer, startRightPerson } from '../kit/right-person.ts';

test('a token without a key id is tried with each key of the issuer, and with no other (A1)', async (t) => {
  const provider = await startIdentityProvider();
  t.after(() => provider.close());
  provider.publishKey();
  provider.publishKey();
  const { url, proxy } = await startRightPerson(t, provider);
  const claims = { iss: provider.issuer, sub: 'ada', aud: url, exp: Math.floor(Date.now() / 1_000) + 600 };
  const status = async (token: string) => (await post(url, toolCall('free'), bearer(token))).status;
  const first = await provider.sign(claims, { kid: undefined });
  provider.switchKey();
  const second = await provider.sign({ ...claims, sub: 'ben' }, { kid: undefined });
  assert.deepEqual([await status(second)], [200]);
  assert.deepEqual([await status(first)], [401], 'its key was withdrawn before the keys were read');
  assert.match(proxy.log.join(''), /"reason":"ERR_JWS_SIGNATURE_VERIFICATION_FAILED"/);
  assert.equal(await status(await provider.sign({ ...claims, aud: 'https://other.example' }, { kid: undefined })), 401);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  assert.equal(await status(await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt' }).sign(privateKey)), 401, 'signed by nobody’s key');
});
