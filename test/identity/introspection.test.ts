/** How often the issuer is asked about opaque tokens, against an introspection endpoint that counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as openid from 'openid-client';
import { createIntrospection } from '../../src/identity/introspection.ts';

const issuer = 'https://issuer.example';

function setUp() {
  const asked: string[] = [];
  const state = { now: 1_000_000, active: new Set<string>(), isDown: false };
  const configuration = new openid.Configuration({ issuer, introspection_endpoint: `${issuer}/introspect` }, 'elicitgate', {}, openid.ClientSecretBasic('s'));
  configuration[openid.customFetch] = (_url, { body }) => {
    const token = new URLSearchParams(body as URLSearchParams).get('token') ?? '';
    asked.push(token);
    return Promise.resolve(state.isDown ? new Response('', { status: 500 }) : Response.json(state.active.has(token) ? { active: true, sub: 'ada' } : { active: false }));
  };
  const ask = createIntrospection({ issuer, configuration: () => Promise.resolve(configuration), key: () => Promise.reject(new Error('not needed')) }, () => state.now);
  const say = async (token: string, address = '192.0.2.1') => {
    const answer = await ask(token, address);
    return answer.ok ? 'good' : answer.error.fault;
  };
  return { asked, state, say };
}

test('the issuer is asked once about a token that many calls bring together, and once in 30 s about one that it refused (A9)', async () => {
  const { asked, state, say } = setUp();
  assert.deepEqual(await Promise.all([say('junk'), say('junk'), say('junk')]), ['invalid', 'invalid', 'invalid']);
  state.now += 29_999;
  assert.equal(await say('junk'), 'invalid');
  assert.deepEqual(asked, ['junk']);
  state.now += 2;
  state.active.add('junk');
  assert.equal(await say('junk'), 'good');
  assert.deepEqual(asked, ['junk', 'junk']);
});

test('an address that makes up tokens is asked about 60 times a minute, and other addresses go on (A9)', async () => {
  const { asked, state, say } = setUp();
  state.active = new Set(['ada', 'ben', 'late']);
  assert.equal(await say('ada'), 'good');
  const flood = await Promise.all(Array.from({ length: 200 }, (_, index) => say(`junk-${String(index)}`)));
  assert.deepEqual([flood.filter((one) => one === 'invalid').length, flood.filter((one) => one === 'unavailable').length], [60, 140]);
  assert.equal(asked.length, 61);
  assert.equal(await say('ada'), 'good', 'it was good before, so it is asked about whatever others do');
  assert.equal(await say('late'), 'unavailable', 'not 401: nobody has to log in again');
  assert.equal(await say('ben', '192.0.2.2'), 'good');
  state.now += 60_000;
  assert.equal(await say('late'), 'good');
});

test('from many addresses there are 600 questions in vain a minute in all; good tokens use up nothing (A9)', async () => {
  const { asked, state, say } = setUp();
  const names = Array.from({ length: 1_000 }, (_, index) => `t${String(index)}`);
  state.active = new Set(names);
  for (const name of names) assert.equal(await say(name), 'good');
  assert.equal(asked.length, 1_000);
  for (let index = 0; index < 1_000; index += 1) await say(`junk-${String(index)}`, `192.0.2.${String(index % 100)}`);
  assert.equal(asked.length, 1_600);
});

test('an issuer that does not answer refuses nobody, and a token that it revoked is no longer a known one', async () => {
  const { asked, state, say } = setUp();
  state.active.add('ada');
  state.isDown = true;
  assert.equal(await say('ada'), 'unavailable');
  state.isDown = false;
  assert.equal(await say('ada'), 'good');
  state.active.clear();
  assert.equal(await say('ada'), 'invalid');
  assert.equal(await say('ada'), 'invalid');
  assert.equal(asked.length, 3);
});
