/** What goes through the proxy is what was sent: bytes up and bytes down, however strange, and nothing that could be read in two ways. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, post, provide, send, toolCall } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';

/** Valid messages that a parse and a stringify would change. */
const spellings = [
  '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"free","arguments":{"big":12345678901234567890123,"exact":1.10,"tiny":1e-400,"minus":-0}}}',
  '  {\n\t"params" : { "arguments" : { "b":1, "a":2, "10":3, "2":4 } , "name" : "free" } ,\r\n "method":"tools/call", "id":0, "jsonrpc":"2.0" }\n\n',
  '{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"free","arguments":{"text":"\\u00e9é\\/\\ud83d\\ude00😀\\ud800"}}}',
  '{"jsonrpc":"2.0","id":"1","method":"tools/c\\u0061ll","params":{"name":"\\u0066ree","arguments":{"constructor":2}}}',
  '{"jsonrpc":"2.0","id":1e2,"method":"tools/call","params":{"name":"free","_meta":{"progressToken":9007199254740993,"x.y/z":null}},"unknown":[1,{"a":[]}]}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","arguments":{"a":[{"k":1},{"k":2}],"deep":' + '['.repeat(500) + ']'.repeat(500) + '}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":0.10}}',
  '{"jsonrpc":"2.0","id":9007199254740993,"result":{"roots":[],"x":1.0}}',
  '{"jsonrpc":"2.0","id":"1","error":{"code":-32042,"message":"m","data":{"challenges":[1.0]}}}',
];

test('the bytes of a message go upstream as they came: digits, order, spaces, escapes, unknown fields (J1, J3)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  for (const message of spellings) {
    const { status } = await client.post(message);
    assert.ok(status === 200 || status === 202, `${status} ${message}`);
    assert.equal(upstream.requests.at(-1)?.body.toString(), message);
  }
});

test('so do those of a call with a key in it (J3)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  const message = spellings[0]?.replace('"free"', '"paid"') ?? '';
  const { text } = await client.post(message);
  assert.equal(upstream.requests.at(-1)?.body.toString(), message);
  assert.equal(upstream.requests.at(-1)?.header('content-length'), String(message.length));
  assert.equal(text.startsWith('{"jsonrpc":"2.0","id":9007199254740993,"result"'), true);
});

const answers = [
  '{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":12345678901234567890,"f":1.10},"_meta":{"a/b":null},"annotations":{"x":1},"unknown":{"":""}}}',
  ' {"id":1,\n"result" : {"b":1,"a":2,"b":3},"jsonrpc":"2.0"}\n',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"challenges":[{"id":"x"}]}}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"https://its.own.example/","elicitationId":"1","message":"m"}]}}}',
  '{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{},"requestState":"x"}}',
  '[{"jsonrpc":"2.0","id":1,"result":{}}]',
];

test("the upstream's answer comes back byte for byte, its own -32042 and input_required too, with and without a key (J4, C8)", async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  for (const answer of answers) {
    upstream.setBehaviour(() => ({ headers: { 'content-type': 'application/json;charset=UTF-8' }, body: answer }));
    for (const tool of ['free', 'paid']) {
      const { text, headers } = await client.call(tool);
      assert.deepEqual([text, headers['content-type'], headers['content-length']], [answer, 'application/json;charset=UTF-8', String(answer.length)]);
    }
    upstream.setBehaviour(() => ({ headers: { 'content-type': 'text/event-stream' }, body: `id: 1\nevent: message\ndata: ${answer.trim().replaceAll('\n', '\ndata:')}\n\n` }));
    assert.equal((await client.call('paid')).text, (await client.call('free')).text);
  }
});

test('a media type is parsed, not compared: any case and a charset of UTF-8 are accepted, and judged like any other (H1)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const types = ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"', 'application/json ; foo=bar; Charset=utf8', 'APPLICATION/JSON;'];
  for (const type of types) {
    const paid = await client.call('paid', {}, { 'Content-Type': type });
    assert.equal(paid.message.result?.isError, true, type);
    assert.equal((await client.call('free', {}, { 'Content-Type': type })).message.result?.content?.[0]?.text, 'free', type);
    assert.equal(upstream.requests.at(-1)?.header('content-type'), 'application/json', 'no other reading of the client’s words is left to the upstream');
  }
});

/** What two parsers could read in two ways, or no parser of ours should. */
const refused: readonly [string, string | Buffer, number][] = [
  ['null id (J2)', '{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"free"}}', -32600],
  ['id of another type', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ['boolean id', '{"jsonrpc":"2.0","id":false,"method":"ping"}', -32600],
  ['a batch (J5)', '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paid"}}]', -32600],
  ['an empty batch', '[]', -32600],
  ['a value', '"tools/call"', -32600],
  ['null', 'null', -32600],
  ['name twice (J6)', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","name":"paid"}}', -32600],
  ['name twice, escaped', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","n\\u0061me":"paid"}}', -32600],
  ['name in two cases', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","Name":"paid"}}', -32600],
  ['name in another case alone', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"paid"}}', -32600],
  ['method twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"paid"}}', -32600],
  ['params twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free"},"params":{"name":"paid"}}', -32600],
  ['id twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600],
  ['arguments twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","arguments":{},"arguments":{}}}', -32600],
  ['a key in arguments twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","arguments":{"a":{"b":1,"b":2}}}}', -32600],
  ['a key in _meta twice', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"free","_meta":{"a":1,"a":2}}}', -32600],
  ['params of a list', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["paid"]}', -32600],
  ['no name', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}', -32600],
  ['no params', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32600],
  ['name of another type', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["paid"]}}', -32600],
  ['a name without end', JSON.stringify(toolCall('p'.repeat(1_025))), -32600],
  ['a call that wants no answer', '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"paid"}}', -32600],
  ['no version', '{"id":1,"method":"ping"}', -32600],
  ['version 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['no method and no result', '{"jsonrpc":"2.0","id":1}', -32600],
  ['method of another type', '{"jsonrpc":"2.0","id":1,"method":1}', -32600],
  ['request and response at once', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', -32600],
  ['result and error at once', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}', -32600],
  ['nothing', '', -32700],
  ['half a message', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paid"}', -32700],
  ['two messages', '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"paid"}}', -32700],
  ['a comment', '{"jsonrpc":"2.0","id":1,/* */"method":"tools/call","params":{"name":"paid"}}', -32700],
  ['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paid",}}', -32700],
  ['single quotes', "{'jsonrpc':'2.0','id':1,'method':'ping'}", -32700],
  ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700],
  ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700],
  ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le'), -32700],
  ['bytes that are no UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","x":"\xff"}', 'latin1'), -32700],
  ['an overlong encoding', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"n\xc1\xa1me":"paid"}}', 'latin1'), -32700],
];

test('what could be read in two ways is refused with the status and code for it, and nothing is forwarded (A8, J2, J5, J6)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '' };
  const before = upstream.requests.length;
  for (const [name, body, code] of refused) {
    const { status, message } = await send(url, { headers, body });
    assert.deepEqual([status, message.error?.code], [400, code], name);
  }
  assert.equal(upstream.requests.length, before);
});

test('the era is read from the body: a legacy message stays one whatever its headers say', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: mcpServer({ sessions: false }) });
  assert.equal((await post(url, toolCall('free'), { 'MCP-Protocol-Version': '2026-07-28' })).status, 200);
  assert.equal(upstream.requests.length, 1);
});
