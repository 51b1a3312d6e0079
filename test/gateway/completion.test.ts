/** `notifications/elicitation/complete`: to the session that was asked and no other, once, between the upstream's events. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { key, startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, urlMode, type Elicitation, type McpClient } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { submitPage } from '../kit/proxy.ts';
import { sse } from '../kit/recorder.ts';
import { listen, liveBody, type LiveBody, type StreamClient } from '../kit/streams.ts';

const comment = ': \n\n';

/** The whole event that tells of one end. */
function notice({ elicitationId }: Elicitation): string {
  return `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"${elicitationId}"}}\n\n`;
}

async function question(client: McpClient): Promise<Elicitation> {
  const asked = (await client.call('paid')).message.error?.data?.elicitations?.[0];
  assert.ok(asked);
  return asked;
}

async function give({ url }: Elicitation): Promise<void> {
  assert.equal((await submitPage(url, { token: key })).status, 200);
}

/** An upstream whose GET streams stay open and say what the test writes; the last one opened is `live`. */
async function start(t: TestContext): Promise<{ gateway: RunningGateway; streams: LiveBody[] }> {
  const streams: LiveBody[] = [];
  const server = mcpServer();
  const gateway = await startGateway(t, {
    upstream: (request) => {
      if (request.method !== 'GET') return server(request);
      const live = liveBody();
      streams.push(live);
      return sse(live.body);
    },
  });
  return { gateway, streams };
}

/** Says something on an upstream stream and waits until it is there: whatever was to come before it has come. */
async function flushed(live: LiveBody | undefined, stream: StreamClient): Promise<string> {
  live?.write('data: flushed\n\n');
  return stream.until('data: flushed\n\n');
}

describe('the end of a question', { timeout: 30_000 }, () => {
  test('is told to the session that was asked, by its own elicitation id, without an SSE id', async (t) => {
    const { gateway } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    const stream = await listen(client);
    const asked = await question(client);
    await give(asked);
    assert.equal(await stream.until('complete'), comment + notice(asked));
  });

  test('is told to no other session of the same person, and to no other client', async (t) => {
    const { gateway, streams } = await start(t);
    const asking = await connect(gateway.url, { capabilities: urlMode });
    const other = await connect(gateway.url, { capabilities: urlMode });
    const foreign = await connect(gateway.url, { capabilities: urlMode, clientInfo: { name: 'other', version: '2' } });
    const textOnly = await connect(gateway.url);
    const heard = await listen(asking);
    const silent: StreamClient[] = [];
    for (const one of [other, foreign, textOnly]) silent.push(await listen(one));
    await gateway.upstream.request((request) => request.header('mcp-session-id') === 'upstream-session-4' && request.method === 'GET');
    const asked = await question(asking);
    await give(asked);
    await heard.until(notice(asked));
    for (const [at, stream] of silent.entries()) {
      assert.equal(await flushed(streams[at + 1], stream), `${comment}data: flushed\n\n`);
    }
  });

  test('is told to every session that was asked, each by its own id, though only one link was used', async (t) => {
    const { gateway } = await start(t);
    const clients = [await connect(gateway.url, { capabilities: urlMode }), await connect(gateway.url, { capabilities: urlMode })];
    const heard: { asked: Elicitation; stream: StreamClient }[] = [];
    for (const client of clients) heard.push({ stream: await listen(client), asked: await question(client) });
    assert.notEqual(heard[0]?.asked.elicitationId, heard[1]?.asked.elicitationId);
    if (heard[0] !== undefined) await give(heard[0].asked);
    for (const { asked, stream } of heard) assert.equal(await stream.until('complete'), comment + notice(asked));
  });

  test('waits for a stream that opens later, and is told once', async (t) => {
    const { gateway, streams } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    const asked = await question(client);
    await give(asked);
    const late = await listen(client);
    assert.equal(await late.until('complete'), comment + notice(asked));
    const before = await gateway.upstream.request(({ method }) => method === 'GET');
    late.close();
    await before.aborted;
    const later = await listen(client);
    await gateway.upstream.request((request) => request.method === 'GET' && request !== before);
    assert.equal(await flushed(streams.at(-1), later), `${comment}data: flushed\n\n`);
  });

  test('is not told any more when the question has expired before a stream opened', async (t) => {
    const { gateway, streams } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    await give(await question(client));
    gateway.proxy.pass(30 * 60_000 + 1);
    const late = await listen(client);
    await gateway.upstream.request(({ method }) => method === 'GET');
    assert.equal(await flushed(streams.at(-1), late), `${comment}data: flushed\n\n`);
  });

  test('is told on one of several streams of the session', async (t) => {
    const { gateway, streams } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    const standalone = await listen(client);
    const resumed = await listen(client, { 'Last-Event-ID': '3' });
    await gateway.upstream.request((request) => request.header('last-event-id') === '3');
    const asked = await question(client);
    await give(asked);
    await Promise.any([standalone.until(notice(asked)), resumed.until(notice(asked))]);
    const texts = [await flushed(streams[0], standalone), await flushed(streams[1], resumed)];
    assert.deepEqual(texts.map((text) => text.split(notice(asked)).length - 1).sort(), [0, 1]);
  });

  test('is told to the connection that has taken the stream over', async (t) => {
    const { gateway } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    const first = await listen(client);
    const asked = await question(client);
    const second = await listen(client);
    await give(asked);
    assert.equal(await second.until('complete'), comment + notice(asked));
    assert.equal((await first.over).text, comment);
  });

  test('is told between two events of the upstream, however these are cut (S5)', async (t) => {
    const { gateway, streams } = await start(t);
    const client = await connect(gateway.url, { capabilities: urlMode });
    const stream = await listen(client);
    await gateway.upstream.request(({ method }) => method === 'GET');
    const asked = await question(client);
    for (const byte of Buffer.from('id: 5\r\nevent: message\r\ndata: {"a":1}\r\n')) streams[0]?.write(Buffer.of(byte));
    await give(asked);
    await stream.until(notice(asked));
    for (const byte of Buffer.from('\r\nid: 6\rdata: {"b":2}\r\r')) streams[0]?.write(Buffer.of(byte));
    assert.equal(await stream.until('"b":2}\r\r'), `${comment}${notice(asked)}id: 5\r\nevent: message\r\ndata: {"a":1}\r\n\r\nid: 6\rdata: {"b":2}\r\r`);
  });
});
