/** requestState in the hands of an attacker: edited, cut, moved to another request or person, used late or twice (A6). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRounds } from '../../src/gateway/round.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { startGateway } from '../kit/gateway.ts';
import { modernCall, modernServer, resultOf } from '../kit/modern.ts';

type Asked = Parameters<ReturnType<typeof createRounds>['seal']>[0];

const round = { asked: ['key'], tickets: ['ticket'] };
const ring = createKeyRing([Buffer.alloc(32, 7)]);

interface Request {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string | undefined;
  readonly upstream: string;
  readonly method: string;
  readonly params: string;
}

const original: Request = { issuer: 'https://id.example.com', subject: 'ada', clientId: 'client', upstream: 'main', method: 'tools/call', params: '{"name":"paid","arguments":{"a":1,"b":[1,2]}}' };

function asked({ issuer, subject, clientId, upstream, method, params }: Request): Asked {
  const principal = { issuer, subject, name: subject, ...(clientId === undefined ? {} : { clientId }) };
  const message = { kind: 'request', idText: '1', method, params: JSON.parse(params) as Readonly<Record<string, unknown>> } as const;
  return { principal, upstream: { config: { name: upstream } }, message, body: Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`) };
}

test('a state opens for its own request only: no other person, client, upstream, method, name or arguments (A6)', () => {
  const rounds = createRounds(ring, 'test', () => 0);
  const requests: readonly Request[] = [
    original,
    { ...original, issuer: 'https://other.example.com' },
    { ...original, subject: 'eve' },
    { ...original, clientId: 'other' },
    { ...original, clientId: undefined },
    { ...original, upstream: 'other' },
    { ...original, method: 'prompts/get' },
    { ...original, params: '{"name":"free","arguments":{"a":1,"b":[1,2]}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":2,"b":[1,2]}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":"1","b":[1,2]}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":1,"b":[2,1]}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":1,"b":[1,2],"c":null}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":9007199254740992}}' },
    { ...original, params: '{"name":"paid","arguments":{"a":9007199254740993}}' },
    { ...original, params: '{"name":"paid","arguments":[]}' },
    { ...original, params: '{"name":"paid"}' },
    { ...original, params: '{"uri":"paid","arguments":{"a":1,"b":[1,2]}}' },
  ];
  for (const from of requests) {
    const state = rounds.seal(asked(from), round);
    for (const to of requests) assert.equal(rounds.open(asked(to), state).ok, from === to, `${JSON.stringify(from)} at ${JSON.stringify(to)}`);
  }
});

test('the same arguments in another order or spacing are the same request', () => {
  const rounds = createRounds(ring, 'test', () => 0);
  const state = rounds.seal(asked(original), round);
  assert.equal(rounds.open(asked({ ...original, params: '{ "arguments": {"b": [1, 2], "a": 1}, "name": "paid" }' }), state).ok, true);
});

test('every byte that is flipped, every cut and every other spelling makes a state that opens nothing (A6)', () => {
  const rounds = createRounds(ring, 'test', () => 0);
  const state = rounds.seal(asked(original), round);
  const bytes = Buffer.from(state, 'base64url');
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    assert.equal(rounds.open(asked(original), flipped.toString('base64url')).ok, false, `byte ${at}`);
    assert.equal(rounds.open(asked(original), bytes.subarray(0, at).toString('base64url')).ok, false, `cut at ${at}`);
  }
  for (const other of [`${state}=`, ` ${state}`, `${state}A`, '', 'x', state.repeat(2)]) assert.equal(rounds.open(asked(original), other).ok, false, other);
  assert.equal(createRounds(ring, 'other', () => 0).open(asked(original), state).ok, false);
  assert.equal(createRounds(createKeyRing([Buffer.alloc(32, 8)]), 'test', () => 0).open(asked(original), state).ok, false);
});

test('a state lives for fifteen minutes (A6)', () => {
  let now = 0;
  const rounds = createRounds(ring, 'test', () => now);
  const state = rounds.seal(asked(original), round);
  const isExpired = () => {
    const opened = rounds.open(asked(original), state);
    return opened.ok && opened.value.isExpired;
  };
  now = 15 * 60_000 - 1;
  assert.equal(isExpired(), false);
  now += 1;
  assert.equal(isExpired(), true);
});

test('on the wire an edited or foreign state is -32602, an expired one a fresh round, and a replayed one is answered like the first time (A6)', async (t) => {
  const { url, upstream, proxy } = await startGateway(t, { upstream: modernServer() });
  const first = resultOf(await modernCall(url, 'paid', { a: 1 })).requestState ?? '';
  const again = (requestState: unknown, args: unknown = { a: 1 }, inputResponses: unknown = {}) => modernCall(url, 'paid', args, { id: 2, params: { requestState, inputResponses } });
  const huge = 'A'.repeat(500_000);
  for (const state of [`${first.slice(0, -2)}AA`, first.slice(1), '', 'theirs', huge, 1, null, {}, [first]]) {
    const answer = await again(state);
    assert.deepEqual([answer.status, answer.message.error?.code, answer.message.id], [400, -32602, 2]);
  }
  assert.equal((await again(first, { a: 2 })).message.error?.code, -32602);
  for (let time = 0; time < 3; time += 1) assert.equal(resultOf(await again(first)).resultType, 'input_required');
  for (let time = 0; time < 2; time += 1) assert.equal(resultOf(await again(first, { a: 1 }, { key: { action: 'decline' } })).isError, true);
  proxy.pass(15 * 60_000);
  const late = resultOf(await again(first, { a: 1 }, { key: { action: 'decline' } }));
  assert.deepEqual([late.resultType, Object.keys(late.inputRequests ?? {})], ['input_required', ['key']]);
  assert.equal(upstream.requests.some((request) => request.body.includes('tools/call')), false);
});
