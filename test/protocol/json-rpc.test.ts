import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorResponse, parseMessage, resultResponse, type RpcMessage } from '../../src/protocol/json-rpc.ts';

const parse = (text: string | Buffer) => parseMessage(Buffer.from(text));

function understood(text: string): RpcMessage {
  const message = parse(text);
  assert.ok(message.ok, text.slice(0, 200));
  return message.value;
}

function assertRefused(reason: 'not-json' | 'invalid-request', texts: readonly (string | Buffer)[]): void {
  for (const text of texts) assert.deepEqual(parse(text), { ok: false, error: reason }, text.toString().slice(0, 200));
}

const request = (members: string): string => `{"jsonrpc":"2.0",${members}}`;
const call = (params: string): string => request(`"id":1,"method":"tools/call","params":${params}`);

test('an id comes back as it was written: 0, "", "1", 2^53 + 1, fractions and escapes (J1)', () => {
  for (const idText of ['0', '""', '1', '"1"', '-7', '9007199254740993', '1.0', '1e2', '"\\u0041"', '"a\\"b"', '"größe"', '"\ud83d\ude00"']) {
    for (const text of [request(`"id":${idText},"method":"ping"`), `{ "method" : "ping" ,\t"id" :\r\n ${idText} \n, "jsonrpc":"2.0" }`]) {
      const message = understood(text);
      assert.ok(message.kind === 'request');
      assert.equal(message.idText, idText);
      assert.equal(resultResponse(message.idText, {}), `{"jsonrpc":"2.0","id":${idText},"result":{}}`);
    }
  }
});

test('an error of ours to nobody in particular has the id null', () => {
  assert.equal(errorResponse(undefined, { code: -32700, message: 'no' }), '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}');
  assert.equal(errorResponse('"a"', { code: 1, message: 'no', data: [1] }), '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no","data":[1]}}');
});

test('an id that is null, true, an object or a list is refused, and never taken for a notification (J2)', () => {
  assertRefused('invalid-request', ['null', 'true', 'false', '{}', '[]', '[1]'].map((id) => request(`"id":${id},"method":"ping"`)));
  assertRefused('invalid-request', [request('"id":null,"error":{"code":1,"message":"x"}')]);
});

test('integers beyond 2^53 in arguments stay as they are in the bytes that are forwarded (J3)', () => {
  const message = understood(call('{"name":"t","arguments":{"n":9007199254740993,"x":1e400}}'));
  assert.equal(message.kind, 'request');
});

test('an array of messages is refused in every version (J5)', () => {
  assertRefused('invalid-request', ['[]', `[${call('{"name":"paid"}')}]`, `[${request('"method":"notifications/initialized"')}]`, ' \n[1,2]']);
});

test('a key twice at a level that is read is refused, whatever the order and the spelling (J6)', () => {
  assertRefused('invalid-request', [
    call('{"name":"free","name":"paid"}'),
    call('{"name":"free","arguments":{},"name":"free"}'),
    call('{"name":"free","\\u006eame":"paid"}'),
    call('{"n\\u0061me":"free","\\u006E\\u0061\\u006D\\u0065":"paid"}'),
    call('{"uri":"a:b","uri":"a:c"}'),
    call('{"name":"t","arguments":{"depth":"deep"},"arguments":{}}'),
    call('{"name":"t","arguments":{"depth":"deep","depth":"shallow"}}'),
    call('{"name":"t","arguments":{"a":[{"b":{"c":1,"d":2,"\\u0063":3}}]}}'),
    call('{"name":"t","_meta":{},"_meta":{}}'),
    call('{"name":"t","_meta":{"progressToken":1,"progressToken":2}}'),
    call('{"name":"t","x":1,"x":2}'),
    call('{"name":"t"},"params":{"name":"u"}'),
    request('"id":1,"id":2,"method":"ping"'),
    request('"id":1,"method":"tools/list","method":"tools/call"'),
    '{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}',
    request('"id":1,"method":"initialize","params":{"capabilities":{"elicitation":{},"elicitation":{"url":{}}}}'),
    request('"id":1,"method":"initialize","params":{"clientInfo":{"name":"a","name":"b"}}'),
    request('"id":1,"result":{},"result":{}'),
  ]);
});

test('the same key at different levels, and in different objects of a list, is no duplicate', () => {
  for (const params of ['{"name":"t","arguments":{"name":"t","arguments":{"name":1}}}', '{"name":"t","arguments":{"a":[{"b":1},{"b":2}],"b":{"a":1}}}', '{"name":"t","arguments":{"key":"key","x":"key\\":"}}', '{"name":"t","_meta":{"name":1,"Name":2}}']) {
    assert.ok(parse(call(params)).ok, params);
  }
});

test('a key that lenient servers take for one that is read is refused: in other case, with look-alike letters, before a NUL, beside a space (J6)', () => {
  assertRefused('invalid-request', [
    call('{"name":"free","Name":"paid"}'),
    call('{"NAME":"paid"}'),
    call('{"name":"free","argument\u017f":{}}'),
    call('{"name":"free","ta\u017f\u212a":{}}'),
    call('{"name":"free","name\\u0000":"paid"}'),
    call('{"name":"free","name\\u0000x":"paid"}'),
    call('{"name":"free","name ":"paid"}'),
    request('"id":1,"method":"ping","Params":{"name":"paid"}'),
    request('"id":1,"method":"ping","METHOD":"tools/call"'),
    request('"id":1,"ID":2,"method":"ping"'),
    request('"id":1,"method":"initialize","params":{"Capabilities":{"elicitation":{"url":{}}}}'),
    request('"id":1,"method":"initialize","params":{"clientinfo":{"name":"a"}}'),
  ]);
});

test('__proto__ is refused wherever it is read, and constructor is a key like any other (A8)', () => {
  const message = understood(call('{"constructor":1,"name":"free","arguments":{"constructor":1}}'));
  assert.ok(message.kind === 'request');
  assert.equal(message.params['name'], 'free');
  assertRefused('invalid-request', [
    '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"ping"}}',
    call('{"__proto__":{"name":"paid"},"name":"free"}'),
    call('{"name":"free","_meta":{"__proto__":1}}'),
    call('{"name":"free","arguments":{"a":[{"\\u005f_proto__":1}]}}'),
  ]);
});

test('what is not JSON is refused as that: empty, cut, with comments, a BOM, single quotes, NaN or two messages (A8)', () => {
  const good = call('{"name":"t"}');
  assertRefused('not-json', ['', ' ', '{', good.slice(0, -1), `${good}${good}`, `${good}x`, `\ufeff${good}`, `/* x */${good}`, `${good}// x`, good.replaceAll('"', "'"), request('"id":NaN,"method":"ping"'), request('"id":01,"method":"ping"'), request('"id":1,"method":"ping",'), request('"id":1,"method":"a\nb"')]);
});

test('what is not UTF-8 is refused, also where a lenient reader would see a name (A8)', () => {
  const good = call('{"name":"paid"}');
  const withBytes = (bytes: readonly number[]): Buffer => Buffer.concat([Buffer.from(good.slice(0, -4)), Buffer.from(bytes), Buffer.from(good.slice(-4))]);
  // A lone continuation, an overlong slash, a surrogate, a cut sequence, beyond U+10FFFF.
  assertRefused('not-json', [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80], [0xff]].map(withBytes));
  assertRefused('not-json', [Buffer.from(good, 'utf16le'), Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(good, 'utf16le')])]);
});

test('a value alone is no message', () => {
  assertRefused('invalid-request', ['null', 'true', '1', '"tools/call"', '{}', '[[]]']);
});

test('a message without jsonrpc 2.0, with a method that is no text, or with params that are no object is refused', () => {
  assertRefused('invalid-request', [
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":2.0,"id":1,"method":"ping"}',
    ...['1', 'null', '{}', '["ping"]'].map((method) => request(`"id":1,"method":${method}`)),
    ...['1', 'null', '[]', '"x"', 'true'].map((params) => request(`"id":1,"method":"ping","params":${params}`)),
    request('"id":1'),
    request('"method":"ping","id":1,"result":{}'),
  ]);
});

test('requests, notifications and responses are told apart', () => {
  assert.deepEqual(understood(request('"id":"a","method":"ping"')), { kind: 'request', idText: '"a"', method: 'ping', params: {} });
  assert.deepEqual(understood(request('"method":"notifications/initialized"')), { kind: 'notification', method: 'notifications/initialized', params: {} });
  for (const answer of ['"id":1,"result":{}', '"id":"a","error":{"code":1,"message":"x"}', '"id":1,"result":null']) assert.deepEqual(understood(request(answer)), { kind: 'response' });
  assertRefused('invalid-request', ['"id":1,"result":{},"error":{}', '"result":{}', '"error":{}'].map(request));
});

test('what a rule may protect is refused without an id: it might run, and nobody could be asked (A8)', () => {
  assertRefused('invalid-request', ['tools/call', 'resources/read', 'resources/subscribe', 'prompts/get', 'completion/complete'].map((method) => request(`"method":"${method}","params":{"name":"paid"}`)));
});

test('nesting beyond a thousand levels is refused at once, valid or not (A8)', () => {
  const nested = (levels: number, open: string, close: string): string => call(`{"name":"paid","arguments":{"a":${open.repeat(levels)}1${close.repeat(levels)}}}`);
  assert.ok(parse(nested(990, '[', ']')).ok);
  assert.ok(parse(nested(990, '{"a":', '}')).ok);
  assertRefused('invalid-request', [nested(100_000, '[', ']'), nested(100_000, '{"a":', '}'), nested(1_000, '[', ']'), '['.repeat(100_000)]);
  assert.ok(parse(call(`{"name":"t","arguments":{"text":"${'['.repeat(100_000)}"}}`)).ok, 'brackets in a text are no nesting');
});

test('an object with more than ten thousand members is refused at once, wherever it stands; a list may be longer (A8)', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, nth) => `"k${nth}":[1,2]`).join(',');
  assert.ok(parse(call(`{"name":"t","arguments":{${members(10_000)}}}`)).ok);
  assertRefused('invalid-request', [
    call(`{"name":"t","arguments":{${members(10_001)}}}`),
    call(`{"name":"t","arguments":{"a":[{},{${members(10_001)}}]}}`),
    call(`{"name":"t","_meta":{${members(10_001)}}}`),
    request(`"id":1,"method":"ping",${members(10_001)}`),
  ]);
  assert.ok(parse(call(`{"name":"t","arguments":{"a":[${'1,'.repeat(50_000)}{}],"b":"${','.repeat(50_000)}"}}`)).ok);
});

test('any text is either understood or refused, and never thrown at (B8)', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"id":', '"method":', '"jsonrpc":"2.0"', '"params":', '"name":', 'null', '1', ' ', '\\u006e', '\u0000', 'x');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      for (const text of [pieces.join(''), `{"jsonrpc":"2.0","id":1,"method":"x","params":{${pieces.join('')}}}`]) {
        const message = parse(text);
        if (message.ok) JSON.parse(text);
      }
    }),
    { numRuns: 1_000 },
  );
});
