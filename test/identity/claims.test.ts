import assert from 'node:assert/strict';
import { test } from 'node:test';
import { audiencesOf, principalFrom, scopesOf, type Claims } from '../../src/identity/claims.ts';

const issuer = 'https://id.example.com';
const personIn = (claims: Claims, subjectClaim = 'sub') => {
  const principal = principalFrom(claims, issuer, subjectClaim);
  if (!principal.ok) return principal.error;
  const { claims: kept, ...person } = principal.value;
  assert.deepEqual(kept, claims);
  return person;
};

test('a person is the issuer and one claim; what else is said of her is for display and for conditions of rules', () => {
  assert.deepEqual(personIn({ sub: 'a-1', name: 'Ada', client_id: 'desk', exp: 1_000 }), { issuer, subject: 'a-1', name: 'Ada', clientId: 'desk', expiresAt: 1_060_000 });
  assert.deepEqual(personIn({ sub: 'a-1', oid: 'o-1', preferred_username: 'ada', azp: 'app' }, 'oid'), { issuer, subject: 'o-1', name: 'ada', clientId: 'app' });
  assert.deepEqual(personIn({ sub: 'a-1', email: 'a@example.com', appid: 'app' }), { issuer, subject: 'a-1', name: 'a@example.com', clientId: 'app' });
  assert.deepEqual(personIn({ sub: 'a-1', cid: 'app', uid: 'u-1' }), { issuer, subject: 'a-1', name: 'a-1', clientId: 'app' });
  assert.deepEqual(personIn({ sub: 'a-1', name: '', iss: 'https://other.example' }), { issuer, subject: 'a-1', name: 'a-1' });
});

test('nobody is named by a claim that is missing, empty or no text', () => {
  for (const sub of [undefined, '', 0, 7, null, true, ['a'], { a: 1 }]) assert.equal(personIn({ sub }), 'no-subject', JSON.stringify(sub));
  assert.equal(personIn({ sub: 'a-1' }, 'oid'), 'no-subject');
});

test('a token that a client got for itself names no person, whichever claim is asked for', () => {
  assert.equal(personIn({ sub: 'desk', client_id: 'desk' }), 'no-person');
  assert.equal(personIn({ sub: 'desk', azp: 'desk' }), 'no-person');
  assert.equal(personIn({ sub: 'desk', cid: 'desk' }), 'no-person');
  assert.equal(personIn({ sub: 'desk', azp: 'other', cid: 'desk' }), 'no-person');
  assert.equal(personIn({ sub: 'desk', client_id: 'desk', oid: 'o-1' }, 'oid'), 'no-person');
  assert.equal(personIn({ sub: 'a-1', client_id: 'desk', oid: 'desk' }, 'oid'), 'no-person');
});

test('scopes are a text or a list, under either name; audiences a text or a list of texts', () => {
  assert.deepEqual([...scopesOf({ scope: 'a  b' })], ['a', 'b']);
  assert.deepEqual([...scopesOf({ scp: ['a', 1, 'b'] })], ['a', 'b']);
  assert.deepEqual([...scopesOf({ scp: 'a' })], ['a']);
  assert.deepEqual([...scopesOf({ scope: 7 })], []);
  assert.deepEqual(audiencesOf({ aud: 'x' }), ['x']);
  assert.deepEqual(audiencesOf({ aud: ['x', 7, 'y'] }), ['x', 'y']);
  assert.deepEqual(audiencesOf({ aud: { x: 1 } }), []);
});
