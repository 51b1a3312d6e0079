/** Attack A11: a client sends by itself what the proxy injects. The upstream's raw header list is the judge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode } from '../kit/mcp-client.ts';
import type { RecordedRequest } from '../kit/recorder.ts';

/** Every value that a server could take for the header, however it reads names. */
function valuesOf(request: RecordedRequest | undefined, header: string): string[] {
  const names = request?.rawHeaders.filter((_, at) => at % 2 === 0) ?? [];
  return names.flatMap((name, at) => (name.toLowerCase().replaceAll('_', '-') === header ? [request?.rawHeaders[at * 2 + 1] ?? ''] : []));
}

const spellings = [
  { 'X-Key': 'forged' },
  { 'x-key': 'forged' },
  { 'X-KEY': 'forged' },
  { X_Key: 'forged' },
  { x_key: 'forged' },
  { 'x-Key': ['forged', 'forged again'] },
  { 'X-Key': 'forged', x_key: 'forged', 'x-key': 'forged' },
  { 'X-Key': key },
];

test('the header that the proxy injects is dropped in every spelling, and exactly one value arrives (A11)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  for (const spelling of spellings) {
    const answer = await client.call('paid', {}, spelling);
    assert.equal(answer.status, 200);
    assert.deepEqual(valuesOf(upstream.requests.at(-1), 'x-key'), [key], JSON.stringify(spelling));
  }
});

test('without a key of her own a client cannot send one past the proxy (A11)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  for (const spelling of spellings) {
    await client.call('free', {}, spelling);
    assert.deepEqual(valuesOf(upstream.requests.at(-1), 'x-key'), [], JSON.stringify(spelling));
  }
});

test('a header that passes by itself is dropped once a credential or the operator sets it (A11)', async (t) => {
  const { url, upstream } = await startGateway(t, {
    with: 'headers: { Tracestate: operator }',
    file: 'credentials: { key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { headers: { Baggage: "key={token}" } } } }',
  });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  await client.call('paid', {}, { baggage: 'forged', BAGGAGE: 'forged' });
  assert.deepEqual(valuesOf(upstream.requests.at(-1), 'baggage'), [`key=${key}`]);
  await client.call('free', {}, { baggage: 'forged', tracestate: 'forged' });
  assert.deepEqual(valuesOf(upstream.requests.at(-1), 'baggage'), []);
  assert.deepEqual(valuesOf(upstream.requests.at(-1), 'tracestate'), ['operator']);
});

test("the client's own Authorization and Cookie never go upstream, in no spelling, injected or not (K2, A11)", async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  const own = { Authorization: 'Bearer client-token', authorization: 'Bearer client-token', Cookie: 'id=client-token', 'Proxy-Authorization': 'client-token', 'X-Anything': 'client-token' };
  for (const tool of ['paid', 'free']) await client.call(tool, {}, own);
  await client.post({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }, own);
  await client.bare('GET', own);
  await client.bare('DELETE', own);
  assert.deepEqual(upstream.requests.slice(-5).map(({ method }) => method), ['POST', 'POST', 'POST', 'GET', 'DELETE']);
  assert.deepEqual(upstream.requests.filter(({ rawHeaders }) => rawHeaders.join('\n').includes('client-token')), []);
});
