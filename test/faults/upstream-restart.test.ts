/** An upstream that is restarted while streams are open: a clear end for each, and the next call works (B4). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fallsSilent } from '../kit/falls-silent.ts';
import { key, keyCredential } from '../kit/gateway.ts';
import { connect, provide, toolCall, urlMode } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRecorder, type Recorder } from '../kit/recorder.ts';
import { ask, listen } from '../kit/streams.ts';

const restarts = 12;
const errorWithinMs = 2_000;

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

describe('an upstream that is restarted', { timeout: 60_000 }, () => {
  test('is an error within two seconds to every call under way, ends every stream, and is used again at once (B4)', async (t) => {
    let upstream: Recorder = await startRecorder(fallsSilent());
    t.after(() => upstream.close());
    const port = Number(new URL(upstream.url).port);
    const proxy = await startProxy(`${keyCredential}\nupstreams: { main: { url: "\${UPSTREAM}", rules: [{ tools: [paid], requires: [key] }] } }`, { env: { UPSTREAM: upstream.url } });
    t.after(() => proxy.close());
    const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
    await provide(client, 'paid', { token: key });
    let before: number | undefined;
    for (let round = 0; round < restarts; round += 1) {
      const stream = await listen(client);
      await upstream.request(({ method }) => method === 'GET');
      const calls = await Promise.all([1, 2, 3].map((id) => ask(client, { ...toolCall('free'), id })));
      await Promise.all(calls.map((call) => call.until('"n":1')));
      const since = performance.now();
      await upstream.close();
      for (const [at, call] of calls.entries()) {
        const { text, end } = await call.over;
        assert.equal(end, 'whole');
        assert.match(text, new RegExp(`^id: 1\\ndata: \\{"n":1\\}\\n\\nevent: message\\ndata: \\{"jsonrpc":"2\\.0","id":${at + 1},"error":\\{"code":1502,`));
      }
      assert.ok(performance.now() - since < errorWithinMs);
      assert.equal((await stream.over).end, 'whole');
      assert.equal((await client.call('paid')).message.error?.code, 1502);
      upstream = await startRecorder(fallsSilent(), port);
      assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
      before ??= sockets();
    }
    assert.ok(sockets() <= (before ?? 0), `${sockets()} sockets, ${before ?? 0} after the first restart`);
  });

  test('with its sessions forgotten is 404 once to each client, and a new session works (H5)', async (t) => {
    let upstream: Recorder = await startRecorder(mcpServer());
    t.after(() => upstream.close());
    const port = Number(new URL(upstream.url).port);
    const proxy = await startProxy('upstreams: { main: { url: "${UPSTREAM}" } }', { env: { UPSTREAM: upstream.url } });
    t.after(() => proxy.close());
    const url = `${proxy.origin}/mcp`;
    const client = await connect(url);
    await upstream.close();
    upstream = await startRecorder(mcpServer(), port);
    assert.equal((await client.call('free')).status, 404);
    const calls = upstream.requests.length;
    assert.equal((await client.call('free')).status, 404);
    assert.equal((await client.bare('GET')).status, 404);
    assert.equal(upstream.requests.length, calls);
    assert.equal((await (await connect(url)).call('free')).message.result?.content?.[0]?.text, 'free');
  });

  test('and loses the session ends the session’s server stream as well (H5)', async (t) => {
    const server = mcpServer();
    let isGone = false;
    const upstream = await startRecorder((request) => (request.method === 'GET' ? { status: 405 } : isGone ? { status: 404 } : server(request)));
    t.after(() => upstream.close());
    const proxy = await startProxy('upstreams: { main: { url: "${UPSTREAM}" } }', { env: { UPSTREAM: upstream.url } });
    t.after(() => proxy.close());
    const client = await connect(`${proxy.origin}/mcp`, { capabilities: urlMode });
    const stream = await listen(client);
    await stream.until(': \n\n');
    isGone = true;
    assert.equal((await client.call('free')).status, 404);
    assert.equal((await stream.over).end, 'whole');
  });
});
