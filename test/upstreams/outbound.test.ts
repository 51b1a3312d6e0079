/** The guarded client for everything outside that is not an upstream. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createOutbound, type OutboundSettings } from '../../src/upstreams/outbound.ts';
import { json, startRecorder, type Behaviour } from '../kit/recorder.ts';

async function reach(t: TestContext, settings: (origin: string) => Partial<OutboundSettings>, behaviour: Behaviour = () => json({ is: 'there' })) {
  const server = await startRecorder(behaviour);
  const { origin, port } = new URL(server.url);
  const outbound = createOutbound({ namedOrigins: new Set(), allow: [], ...settings(origin) });
  t.after(async () => {
    await outbound.close();
    await server.close();
  });
  return { fetch: outbound.fetch, origin, port, requests: server.requests };
}

const named = (origin: string) => ({ namedOrigins: new Set([origin]) });

test('an address inside is reached only by an origin or a network that the file names, however it is written', async (t) => {
  const { fetch, origin, port, requests } = await reach(t, () => ({}));
  const inside = [origin, `http://localhost:${port}`, `http://[::1]:${port}`, `http://[::ffff:127.0.0.1]:${port}`, `http://127.1:${port}`, `http://2130706433:${port}`, `http://0.0.0.0:${port}`, 'http://10.1.2.3', 'http://192.168.1.1', 'http://169.254.169.254/latest/meta-data', 'http://[fd00::1]', 'http://[fe80::1]', 'http://[64:ff9b::7f00:1]', 'http://100.64.0.1'];
  for (const url of inside) await assert.rejects(fetch(url), (error: Error) => /unless the file names it/.test(`${error.message} ${String((error.cause as Error | undefined)?.message)}`), url);
  assert.deepEqual(requests, []);
});

test('a named origin is reached, another port of the same host is not; a named network is', async (t) => {
  const { fetch, origin, requests } = await reach(t, named);
  assert.deepEqual(await (await fetch(`${origin}/keys`)).json(), { is: 'there' });
  await assert.rejects(fetch('http://127.0.0.1:9/keys'));
  assert.deepEqual(requests.map(({ path }) => path), ['/keys']);
  const allowed = await reach(t, () => ({ allow: ['127.0.0.0/8'] }));
  assert.equal((await allowed.fetch(allowed.origin)).status, 200);
  assert.equal((await allowed.fetch(`http://localhost:${allowed.port}`)).status, 200);
  const one = await reach(t, () => ({ allow: ['127.0.0.1', '::1'] }));
  assert.equal((await one.fetch(one.origin)).status, 200);
});

test('a redirect is an answer and is followed nowhere', async (t) => {
  const elsewhere = await startRecorder(() => json({}));
  t.after(() => elsewhere.close());
  const { fetch, origin } = await reach(t, named, () => ({ status: 302, headers: { location: elsewhere.url } }));
  assert.equal((await fetch(origin)).status, 302);
  assert.deepEqual(elsewhere.requests, []);
});

test('an endless answer is cut at 1 MiB, and the caller may give up at any time', async (t) => {
  const { fetch, origin } = await reach(t, named, () => ({ body: endless() }));
  const answer = await fetch(origin);
  await assert.rejects(answer.text());
  const silent = await reach(t, named, () => new Promise(() => undefined));
  const giveUp = new AbortController();
  const waiting = silent.fetch(silent.origin, { signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});

async function* endless(): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < 4 * 1024 * 1024; sent += 65_536) yield Buffer.alloc(65_536, 'x');
}
