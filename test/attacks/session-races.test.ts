/** Requests of one session that cross each other while its person's secrets change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import type { RecordedRequest } from '../kit/recorder.ts';
import { listen } from '../kit/streams.ts';

const isInitialize = (request: RecordedRequest): boolean => callOf(request)?.method === 'initialize';

test('a stream that is opened when the secrets have changed does not end the session in which a call still runs', async (t) => {
  const slow = Promise.withResolvers<unknown>();
  const server = mcpServer({ get: 'open' });
  const { url, upstream } = await startGateway(t, {
    with: 'attach: always',
    upstream: async (request) => {
      const reply = await server(request);
      if (callOf(request)?.params?.name === 'free') await slow.promise;
      return reply;
    },
  });
  const client = await connect(url, { capabilities: urlMode });
  const running = client.call('free');
  await upstream.request((request) => callOf(request)?.params?.name === 'free');
  await provide(client, 'paid', { token: key });
  const stream = await listen(client);
  assert.equal((await upstream.request(({ method }) => method === 'GET')).header('mcp-session-id'), 'upstream-session-2');
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  assert.deepEqual(upstream.requests.filter(({ method }) => method === 'DELETE'), []);
  slow.resolve(undefined);
  assert.equal((await running).message.result?.content?.[0]?.text, 'free');
  assert.equal((await upstream.request(({ method }) => method === 'DELETE')).header('mcp-session-id'), 'upstream-session-1');
  stream.close();
});

test('a session that its client ends while another is opened behind it leaves nothing open upstream', async (t) => {
  const opening = Promise.withResolvers<unknown>();
  const server = mcpServer();
  let initialized = 0;
  const { url, upstream } = await startGateway(t, {
    with: 'attach: always',
    upstream: async (request) => {
      if (isInitialize(request) && (initialized += 1) === 2) await opening.promise;
      return server(request);
    },
  });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const crossing = client.call('paid');
  await upstream.request((request) => isInitialize(request) && request.header('x-key') === key);
  assert.equal((await client.bare('DELETE')).status, 200);
  opening.resolve(undefined);
  assert.equal((await crossing).status, 404);
  await upstream.request((request) => request.method === 'DELETE' && request.header('mcp-session-id') === 'upstream-session-2');
  assert.deepEqual(upstream.requests.filter((request) => callOf(request)?.params?.name === 'paid'), []);
});

test('a session that another took the place of while its client ended it is not left open upstream', async (t) => {
  const ending = Promise.withResolvers<unknown>();
  const server = mcpServer();
  const { url, upstream } = await startGateway(t, {
    with: 'attach: always',
    upstream: async (request) => {
      if (request.method === 'DELETE' && request.header('mcp-session-id') === 'upstream-session-1') await ending.promise;
      return server(request);
    },
  });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const deleted = client.bare('DELETE');
  await upstream.request(({ method }) => method === 'DELETE');
  assert.equal((await client.call('paid')).status, 200);
  ending.resolve(undefined);
  assert.equal((await deleted).status, 200);
  await upstream.request((request) => request.method === 'DELETE' && request.header('mcp-session-id') === 'upstream-session-2');
});
