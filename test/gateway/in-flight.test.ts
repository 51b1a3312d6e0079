import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createInFlight } from '../../src/gateway/in-flight.ts';
import { giveBack, lendName } from '../../src/protocol/lent-names.ts';
import { startGateway } from '../kit/gateway.ts';
import { connect, toolCall, type McpClient } from '../kit/mcp-client.ts';
import { callOf, mcpServer } from '../kit/mcp-server.ts';
import { json, sse, type Behaviour, type Reply } from '../kit/recorder.ts';
import { ask, liveBody, listen, openStream, sessionOf } from '../kit/streams.ts';

/** As the SDK's server does: an answer goes to whoever asked last under its id. It answers on `release`, by the name in the arguments. */
function answersById(type: 'json' | 'sse') {
  const server = mcpServer();
  const byId = new Map<string, (reply: Reply) => void>();
  const release = (idText: string, text: string): void => {
    const answer = `{"jsonrpc":"2.0","id":${idText},"result":{"content":[{"type":"text","text":"${text}"}],"big":9007199254740993}}`;
    byId.get(keyOf(idText))?.(type === 'json' ? { headers: { 'content-type': 'application/json' }, body: answer } : sse(`event: message\nid: e-1\ndata: ${answer}\n\n`));
  };
  const behaviour: Behaviour = (request) => {
    const call = callOf(request);
    if (call?.method !== 'tools/call') return server(request);
    return new Promise((resolve) => { byId.set(JSON.stringify(call.id), resolve); });
  };
  return { behaviour, release };
}

const keyOf = (idText: string): string => (idText.startsWith('"') ? JSON.stringify(JSON.parse(idText)) : idText);
const idIn = (body: Buffer): string => /"id": ?("[^"]*"|[\d.e+]+)/.exec(body.toString())?.[1] ?? '';

for (const type of ['json', 'sse'] as const) {
  test(`two calls under one id at once get each its own answer, with the id as it was written, in ${type}`, async (t) => {
    const { behaviour, release } = answersById(type);
    const { url, upstream } = await startGateway(t, { upstream: behaviour });
    const client = await connect(url);
    for (const [first, second] of [['7', '7'], ['"a"', '"a"'], ['0', '0'], ['1', '"1"'], ['9007199254740993', '9007199254740992'], ['""', '""'], ['"\\u00fc/"', '"ü/"']] as const) {
      upstream.forget();
      const text = (id: string, name: string) => `{"jsonrpc":"2.0", "id": ${id},"method":"tools/call","params":{"name":"free","arguments":{"n":9007199254740993,"who":"${name}"}}}`;
      const one = client.post(text(first, 'one'));
      const early = await upstream.request((request) => request.body.includes('"one"'));
      const two = client.post(text(second, 'two'));
      const late = await upstream.request((request) => request.body.includes('"two"'));
      assert.equal(early.body.toString(), text(first, 'one'));
      const lent = idIn(late.body);
      assert.match(lent, /^"elicitgate-/);
      assert.equal(late.body.toString().replace(lent, second), text(second, 'two'));
      release(lent, 'two');
      release(first, 'one');
      const said = (id: string, name: string) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${name}"}],"big":9007199254740993}}`;
      const [oneText, twoText] = [(await one).text, (await two).text];
      assert.ok(twoText.includes(said(second, 'two')), twoText);
      assert.ok(oneText.includes('"text":"one"') && !oneText.includes('elicitgate-'), oneText);
      if (type === 'sse') assert.equal(twoText, `event: message\nid: e-1\ndata: ${said(second, 'two')}\n\n`);
    }
  });
}

async function twoCalls(t: TestContext) {
  const server = mcpServer();
  const gateway = await startGateway(t, { upstream: (request) => (callOf(request)?.method === 'tools/call' ? new Promise(() => undefined) : server(request)) });
  const client = await connect(gateway.url);
  return { ...gateway, client };
}

/** Does not wait for an answer. */
function send(client: McpClient, message: object): void {
  client.post(message).catch(() => undefined);
}

const cancel = (client: McpClient, requestId: unknown) => client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason: 'enough' } });

test('a cancellation names the request as the upstream knows it: of several under one id the newest', async (t) => {
  const { upstream, client } = await twoCalls(t);
  send(client, toolCall('free', { who: 'one' }, 7));
  await upstream.request((request) => request.body.includes('"one"'));
  await cancel(client, 7);
  assert.equal(upstream.requests.at(-1)?.body.toString(), '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}');
  send(client, toolCall('free', { who: 'two' }, 7));
  const late = await upstream.request((request) => request.body.includes('"two"'));
  await cancel(client, 7);
  const lent = idIn(late.body);
  assert.equal(upstream.requests.at(-1)?.body.toString(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${lent},"reason":"enough"}}`);
  for (const other of [8, '7', null]) {
    await cancel(client, other);
    assert.equal(upstream.requests.at(-1)?.body.toString(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${JSON.stringify(other)},"reason":"enough"}}`);
  }
});

test('ids of other sessions do not collide, nor ids whose request is over', async (t) => {
  const { url, upstream, client } = await twoCalls(t);
  const other = await connect(url);
  for (const [who, whose] of [['one', client], ['two', other]] as const) {
    send(whose, toolCall('free', { who }, 7));
    assert.equal(idIn((await upstream.request((request) => request.body.includes(`"${who}"`))).body), '7');
  }
  const inFlight = createInFlight(() => '0123456789abcdef');
  inFlight.begin('s', '1', undefined).over(false);
  assert.equal(inFlight.begin('s', '1', undefined).isLent, false);
});

test('equal progress tokens at once are told apart, and each client reads its own', async (t) => {
  const server = mcpServer();
  const streams = new Map<string, ReturnType<typeof liveBody>>();
  const { url, upstream } = await startGateway(t, {
    upstream: (request) => {
      if (callOf(request)?.method !== 'tools/call') return server(request);
      const live = liveBody();
      streams.set(/"who":"(\w+)"/.exec(request.body.toString())?.[1] ?? '', live);
      return sse(live.body);
    },
  });
  const client = await connect(url);
  const call = (who: string) => ask(client, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'free', arguments: { who }, _meta: { progressToken: 1 } } });
  const one = await call('one');
  const two = await call('two');
  const late = await upstream.request((request) => request.body.includes('"two"'));
  const token = /"progressToken":("[^"]+")/.exec(late.body.toString())?.[1] ?? '';
  assert.match(token, /^"elicitgate-/);
  streams.get('two')?.write(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":5}}\n\n`);
  streams.get('one')?.write('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":3}}\n\n');
  assert.equal(await two.until('"progress":5'), 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":5}}\n\n');
  await one.until('"progress":3');
});

const progress = (token: unknown, value: number): string => `id: p-${value}\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: value } })}\n\n`;
const result = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';

test('progress under a token that the client did not give, or after the result, does not reach it; its event ids do (S6)', async (t) => {
  const server = mcpServer({ sessions: false });
  const sent = [progress('mine', 1), progress('other', 2), progress(undefined, 3), 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"notifications/progress"}}\n\n', result, progress('mine', 4)];
  const kept = [progress('mine', 1), 'id: p-2\n\n', 'id: p-3\n\n', sent[3], result, 'id: p-4\n\n'].join('');
  for (const script of [sent, [sent.join('')], [...sent.join('')]]) {
    const { url } = await startGateway(t, { upstream: (request) => (callOf(request)?.method === 'tools/call' ? sse(script) : server(request)) });
    const stream = await ask({ url, session: undefined }, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'free', _meta: { progressToken: 'mine' } } });
    assert.equal((await stream.over).text, kept);
  }
});

test('on the server stream only progress of calls under way comes through, and that of tasks (S6)', async (t) => {
  const server = mcpServer();
  const events = liveBody();
  let taskAnswer: ((reply: Reply) => void) | undefined;
  const { url, upstream } = await startGateway(t, {
    upstream: (request) => {
      if (request.method === 'GET') return sse(events.body);
      if (!request.body.includes('"slow"')) return server(request);
      return new Promise<Reply>((resolve) => { taskAnswer = resolve; });
    },
  });
  const client = await connect(url);
  const stream = await listen(client);
  send(client, { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'slow', task: { ttl: 1_000 }, _meta: { progressToken: 't-1' } } });
  await upstream.request((request) => request.body.includes('"slow"'));
  events.write(progress('t-0', 1), progress('t-1', 2));
  await stream.until('"progress":2');
  taskAnswer?.(json({ jsonrpc: '2.0', id: 5, result: { task: { taskId: 'x' } } }));
  await client.call('free');
  events.write(progress('t-1', 3), progress('t-0', 4), progress('t-1', 5));
  const text = await stream.until('"progress":5');
  assert.deepEqual(text.match(/(?<="progress":)\d/g), ['2', '3', '5']);
  stream.close();
});

test('an answer under a lent name that is resumed on a GET comes under the client’s own', async (t) => {
  const server = mcpServer();
  const lent = lendName('"x\\"y"', '0123456789abcdef');
  const { url } = await startGateway(t, { upstream: (request) => (request.method === 'GET' ? sse(`id: 5\ndata: {"jsonrpc":"2.0","id":${lent},"result":{}}\n\n`) : server(request)) });
  const client = await connect(url);
  const stream = await openStream(url, { method: 'GET', headers: { Accept: 'text/event-stream', 'Last-Event-ID': '4', ...sessionOf(client) } });
  assert.ok((await stream.over).text.endsWith('id: 5\ndata: {"jsonrpc":"2.0","id":"x\\"y","result":{}}\n\n'));
});

test('a lent name gives back what was lent, and nothing that is no id', () => {
  for (const own of ['7', '-0', '1.50', '9007199254740993', '""', '"ü"', '"a\\"b"', '"\\u0000"']) {
    assert.equal(giveBack(Buffer.from(`{"id":${lendName(own, '0123456789abcdef')}}`)).toString(), `{"id":${own}}`);
  }
  for (const forged of ['{"a":1}', '1,"x":2', '"a","b":"c"', 'null', '"\n"', '']) {
    const text = `{"id":${lendName(forged, '0123456789abcdef')}}`;
    assert.equal(giveBack(Buffer.from(text)).toString(), text);
  }
});

test('a client that resumes an answer frees the stream that it left: the call was read on until then, and the upstream has no other reader', async (t) => {
  const server = mcpServer();
  const left = liveBody();
  const { url, upstream } = await startGateway(t, {
    upstream: (request) => {
      if (request.method === 'GET') return sse(`id: 2\n${result}`);
      return callOf(request)?.method === 'tools/call' ? sse(left.body) : server(request);
    },
  });
  const client = await connect(url);
  const other = await connect(url);
  const stream = await ask(client, toolCall('free'));
  left.write('id: 1\ndata: \n\n');
  await stream.until('id: 1');
  stream.close();
  const call = await upstream.request((request) => callOf(request)?.method === 'tools/call');
  const resume = (whose: McpClient) => openStream(url, { method: 'GET', headers: { Accept: 'text/event-stream', 'Last-Event-ID': '1', ...sessionOf(whose) } });
  await (await resume(other)).over;
  assert.equal(await Promise.race([call.aborted.then(() => 'cut'), Promise.resolve('open')]), 'open');
  assert.match((await (await resume(client)).over).text, /id: 2/);
  await call.aborted;
});
