/** attach: always: a person's secrets belong to her sessions as a whole, also where a server reads them only at initialize. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateKey } from '../../src/operate/key-file.ts';
import { startBindingServer, type BindingServer } from '../kit/binding-server.ts';
import { key, keyCredential, startGateway } from '../kit/gateway.ts';
import { connect, linkIn, post, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { callOf, mcpServer, text } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { openPage, startProxy, submitPage, type ProxyOptions, type RunningProxy } from '../kit/proxy.ts';
import { connectSdkClient } from '../kit/sdk-client.ts';

const other = planted('sk-the-other-one-91e0');

function protect(server: BindingServer, options: ProxyOptions = {}): Promise<RunningProxy> {
  return startProxy(`${keyCredential}\nupstreams: { main: { url: "${server.url}", attach: always, rules: [{ tools: [whoami], requires: [key] }] } }`, options);
}

/** Posts a button of the account page. */
async function disconnect(proxy: RunningProxy): Promise<void> {
  const url = `${proxy.origin}/account`;
  const csrf = /name="csrf" value="([^"]*)"/.exec((await openPage(url)).html)?.[1] ?? '';
  const { status } = await fetch(url, { method: 'POST', redirect: 'manual', headers: { origin: proxy.origin, 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action: 'disconnect' }) });
  assert.equal(status, 303);
}

test('a key that is given, replaced or revoked opens a new upstream session with the client’s own parameters; the client notices nothing (E7)', async (t) => {
  const server = await startBindingServer();
  const proxy = await protect(server);
  const { client, ask, call, close } = await connectSdkClient(`${proxy.origin}/mcp`);
  t.after(async () => { await close(); await proxy.close(); await server.close(); });
  const listed = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
  const whoami = async (): Promise<unknown> => (await call('whoami', {})).content;
  const say = (said: string) => [{ type: 'text', text: said }];

  assert.deepEqual(await listed(), ['whoami']);
  await submitPage((await ask('whoami', {}))[0]?.url ?? '', { token: key });
  assert.deepEqual(await listed(), ['whoami', 'mine']);
  assert.deepEqual(await whoami(), say('[redacted]'));
  await server.sessions[0]?.ended;
  assert.deepEqual(server.sessions.map((session) => session.key), [undefined, key]);
  assert.deepEqual(server.sessions[1]?.server.server.getClientVersion(), server.sessions[0]?.server.server.getClientVersion());
  assert.deepEqual(server.sessions[1]?.server.server.getClientCapabilities(), { elicitation: { url: {} } });

  // Her stream goes on with the new session's.
  const changed = Promise.withResolvers<void>();
  client.fallbackNotificationHandler = ({ method }) => { if (method === 'notifications/tools/list_changed') changed.resolve(); return Promise.resolve(); };
  await server.sessions[1]?.streaming;
  server.sessions[1]?.server.sendToolListChanged();
  await changed.promise;

  await disconnect(proxy);
  assert.deepEqual(await listed(), ['whoami']);
  await submitPage((await ask('whoami', {}))[0]?.url ?? '', { token: other });
  assert.deepEqual(await whoami(), say('[redacted]'));
  assert.deepEqual(server.sessions.map((session) => session.key), [undefined, key, undefined, other]);
  await server.sessions[2]?.ended;
});

test('a session that opens after the key was given has it from its first message on', async (t) => {
  const server = await startBindingServer();
  const proxy = await protect(server);
  t.after(async () => { await proxy.close(); await server.close(); });
  const first = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  await provide(first, 'whoami', { token: key });
  const second = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  assert.match((await second.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, /"mine"/);
  assert.deepEqual(server.sessions.map((session) => session.key), [undefined, key]);
});

test('calls at once open one new session, and none goes into the old one', async (t) => {
  const server = await startBindingServer();
  const proxy = await protect(server);
  t.after(async () => { await proxy.close(); await server.close(); });
  const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  await provide(client, 'whoami', { token: key });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call('whoami')));
  assert.deepEqual(new Set(answers.map(({ message }) => message.result?.content?.[0]?.text)), new Set(['[redacted]']));
  assert.equal(server.sessions.length, 2);
});

test('a key that the server refuses at initialize is asked for again, and the session before it stays', async (t) => {
  const server = await startBindingServer(other);
  const proxy = await protect(server);
  t.after(async () => { await proxy.close(); await server.close(); });
  const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
  await provide(client, 'whoami', { token: other });
  const again = await client.call('whoami');
  assert.equal(again.message.error?.code, -32042);
  assert.match((await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, /"whoami"/);
  await submitPage(linkIn(again.text), { token: key });
  assert.equal((await client.call('whoami')).message.result?.content?.[0]?.text, '[redacted]');
});

test('another process opens the new session as well: what it needs is in the store, sealed', async (t) => {
  const server = await startBindingServer();
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  const options = { folder, key: generateKey() };
  const before = await protect(server, options);
  const client = await connect(`${before.origin}/mcp`, { capabilities: urlMode, clientInfo: { name: 'kept-name', version: '7' } });
  await provide(client, 'whoami', { token: key });
  await before.close();
  const after = await startProxy(`${keyCredential}\nupstreams: { main: { url: "${server.url}", attach: always, rules: [{ tools: [whoami], requires: [key] }] } }`, options);
  t.after(async () => { await after.close(); await server.close(); });
  const answer = await post(`${after.origin}/mcp`, toolCall('whoami'), { 'Mcp-Session-Id': client.session ?? '' });
  assert.equal(answer.message.result?.content?.[0]?.text, '[redacted]');
  assert.deepEqual(server.sessions.map((session) => [session.key, session.server.server.getClientVersion()]), [[undefined, { name: 'kept-name', version: '7' }], [key, { name: 'kept-name', version: '7' }]]);
});

test('a call that runs in the old session comes to its end before that session is ended', async (t) => {
  const slow = Promise.withResolvers<unknown>();
  const server = mcpServer();
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
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  assert.deepEqual(upstream.requests.filter(({ method }) => method === 'DELETE'), []);
  slow.resolve(undefined);
  assert.equal((await running).message.result?.content?.[0]?.text, 'free');
  assert.equal((await upstream.request(({ method }) => method === 'DELETE')).header('mcp-session-id'), 'upstream-session-1');
  // The client ends the session that is there now.
  assert.equal((await client.bare('DELETE')).status, 200);
  assert.equal(upstream.requests.at(-1)?.header('mcp-session-id'), 'upstream-session-2');
});

test('the operator’s own headers go along where no secret of a person does, on every method; with one, hers do (E7, E8)', async (t) => {
  const { url, upstream } = await startGateway(t, { with: 'attach: always, headers: { X-Operator: own }', upstream: { get: 'open', tools: { paid: () => text('paid') } } });
  const client = await connect(url, { capabilities: urlMode });
  const seen = (): unknown[][] => upstream.requests.map((request) => [callOf(request)?.method ?? request.method, request.header('x-operator'), request.header('x-key')]);
  const everything = async (): Promise<void> => {
    for (const method of ['tools/list', 'resources/list', 'prompts/list', 'ping', 'completion/complete']) await client.post({ jsonrpc: '2.0', id: 1, method, ...(method === 'completion/complete' ? { params: { ref: { type: 'ref/prompt', name: 'any' }, argument: { name: 'a', value: '' } } } : {}) });
    await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  };
  upstream.forget();
  await everything();
  const methods = ['tools/list', 'resources/list', 'prompts/list', 'ping', 'completion/complete', 'notifications/roots/list_changed'];
  assert.deepEqual(seen(), methods.map((method) => [method, 'own', undefined]));
  await provide(client, 'paid', { token: key });
  upstream.forget();
  await everything();
  await upstream.request(({ method }) => method === 'DELETE');
  assert.deepEqual(seen().filter(([method]) => (methods as unknown[]).includes(method)), methods.map((method) => [method, undefined, key]));
});

test('of a client that says very much of itself little is kept, and its session follows her key all the same', async (t) => {
  const { url, upstream } = await startGateway(t, { with: 'attach: always' });
  const client = await connect(url, { capabilities: { ...urlMode, experimental: { much: 'x'.repeat(100_000) } } });
  await provide(client, 'paid', { token: key });
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  const [first, second] = upstream.requests.filter((request) => callOf(request)?.method === 'initialize');
  assert.ok((first?.body.length ?? 0) > 100_000);
  assert.deepEqual(callOf(second ?? assert.fail())?.params, { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } });
});
