/** Upstreams that compress although nobody asked (H4): the client gets plain bytes of the right length, whole, and scrubbed where a key went along. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, provide } from '../kit/mcp-client.ts';
import { CUT, type Reply } from '../kit/recorder.ts';

const codings: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  GZIP: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
  identity: Buffer.from,
};

const json = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${'grün '.repeat(2_000)}"}]}}`;
const leak = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"you sent ${key}"}]}}`;
const scrubbed = leak.replace(key, '[redacted]');

function encoded(coding: string, text: string, type = 'application/json'): Reply {
  const body = codings[coding]?.(text) ?? Buffer.alloc(0);
  return { headers: { 'content-type': type, 'content-encoding': coding, 'content-length': String(body.length) }, body };
}

test('every usual coding is undone by its header: JSON arrives plain with its own length, and no coding is named to the client (H4)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  await provide(client, 'paid', { token: key });
  for (const coding of Object.keys(codings)) {
    upstream.setBehaviour(() => encoded(coding, json));
    for (const tool of ['free', 'paid']) {
      const { text, headers } = await client.call(tool);
      assert.equal(text, json, coding);
      assert.deepEqual([headers['content-encoding'], headers['content-length']], [undefined, String(Buffer.byteLength(json))], coding);
    }
    upstream.setBehaviour(() => encoded(coding, leak));
    assert.equal((await client.call('paid')).text, scrubbed, coding);
  }
  assert.deepEqual(upstream.requests.map((request) => request.header('accept-encoding')), upstream.requests.map(() => 'identity'));
});

test('event streams, error bodies and the handshake are decoded and scrubbed like any other answer (H4)', async (t) => {
  const { url, upstream } = await startGateway(t, { upstream: { encoding: 'gzip', answers: 'sse' } });
  const client = await connect(url);
  assert.match(client.session ?? '', /^[\w-]{100,}$/);
  await provide(client, 'paid', { token: key });
  for (const coding of Object.keys(codings)) {
    upstream.setBehaviour(() => encoded(coding, `id: 1\ndata: ${leak}\n\n`, 'text/event-stream'));
    assert.equal((await client.call('paid')).text, `id: 1\ndata: ${scrubbed}\n\n`, coding);
    upstream.setBehaviour(() => ({ ...encoded(coding, leak.replace('result', 'error')), status: 400 }));
    const refused = await client.call('paid');
    assert.deepEqual([refused.status, refused.text], [400, scrubbed.replace('result', 'error')], coding);
  }
});

test('a compressed answer that still names the length of the plain one never reaches the client as if it were whole (H4)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
    const body = codings[coding]?.(json) ?? Buffer.alloc(0);
    const headers = { 'content-type': 'application/json', 'content-encoding': coding, 'content-length': String(Buffer.byteLength(json)) };
    upstream.setBehaviour(() => ({ headers, body: [body, CUT] }));
    const answer = await client.call('free');
    assert.deepEqual([answer.status, answer.message.id, answer.message.error?.code], [200, 1, 1502], coding);
  }
});

test('what cannot be decoded is an error 1502: an unknown coding, several at once, damaged bytes (H4)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  const type = { 'content-type': 'application/json' };
  const gzipped = gzipSync(json);
  const damaged = Buffer.from(gzipped);
  damaged.writeUInt32LE(0xdeadbeef, damaged.length - 8);
  const bad: [string, Reply][] = [
    ['unknown', { headers: { ...type, 'content-encoding': 'compress' }, body: json }],
    ['misspelt', { headers: { ...type, 'content-encoding': 'gzip,' }, body: gzipped }],
    ['several', { headers: { ...type, 'content-encoding': 'gzip, br' }, body: brotliCompressSync(gzipped) }],
    ['twice', { headers: { ...type, 'content-encoding': ['gzip', 'gzip'] }, body: gzipSync(gzipped) }],
    ['of a prototype', { headers: { ...type, 'content-encoding': 'constructor' }, body: json }],
    ['plain under a name', { headers: { ...type, 'content-encoding': 'gzip' }, body: json }],
    ['another under a name', { headers: { ...type, 'content-encoding': 'br' }, body: gzipped }],
    ['cut', { headers: { ...type, 'content-encoding': 'gzip' }, body: gzipped.subarray(0, gzipped.length - 12) }],
    ['with a wrong checksum', { headers: { ...type, 'content-encoding': 'gzip' }, body: damaged }],
  ];
  for (const [name, reply] of bad) {
    upstream.setBehaviour(() => reply);
    const answer = await client.call('free');
    assert.deepEqual([answer.status, answer.headers['content-encoding'], answer.message.error?.code], [200, undefined, 1502], name);
  }
  upstream.setBehaviour(() => encoded('gzip', json));
  assert.equal((await client.call('free')).text, json);
});

test('an answer without a body keeps its status whatever coding it names (H4)', async (t) => {
  const { url, upstream } = await startGateway(t);
  const client = await connect(url);
  for (const coding of ['gzip', 'br', 'deflate', 'zstd']) {
    upstream.setBehaviour(() => ({ status: 202, headers: { 'content-encoding': coding } }));
    const { status, text } = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    assert.deepEqual([status, text], [202, ''], coding);
  }
});
