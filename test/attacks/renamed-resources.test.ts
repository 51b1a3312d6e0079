/** A protected resource or prompt under another name: what a lenient server could take for it asks, or is refused before anything is forwarded (A8). */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, type McpClient } from '../kit/mcp-client.ts';

async function begin(t: TestContext) {
  const file = 'upstreams: { main: { url: "${UPSTREAM}", rules: [{ resources: ["docs://vault/*"], prompts: [secret], requires: [key] }] } }';
  const { url, upstream } = await startGateway(t, { file });
  const client = await connect(url);
  return { client, upstream, before: upstream.requests.length };
}

const codeOf = async (client: McpClient, method: string, params: unknown): Promise<number | undefined> => (await client.post({ jsonrpc: '2.0', id: 1, method, params })).message.error?.code;

test('a URI that leads to a protected resource asks, however it is written (A8)', async (t) => {
  const { client, upstream, before } = await begin(t);
  for (const uri of ['docs://vault/a', 'DOCS://VAULT/a', 'docs://public/../vault/a', 'docs://public/%2E%2e/vault/a', 'docs://public/%252e%252e/vault/a', 'docs:%2f%2fvault%2fa', 'docs:\\\\vault\\a', 'docs://x@vault/a', 'docs://vault/a%00.txt', 'docs://vault/a#b']) {
    for (const [method, params] of [['resources/read', { uri }], ['resources/subscribe', { uri }], ['completion/complete', { ref: { type: 'ref/resource', uri }, argument: {} }]] as const) {
      assert.equal(await codeOf(client, method, params), 1401, `${method} ${uri}`);
    }
  }
  assert.equal(upstream.requests.length, before);
});

test('names that cannot be read in one way, methods in disguise, and requests that want no answer are refused (A8)', async (t) => {
  const { client, upstream, before } = await begin(t);
  const params = [
    ['resources/read', {}],
    ['resources/read', { uri: ['docs://vault/a'] }],
    ['resources/read', { uri: 'docs://vault/a', URI: 'docs://public' }],
    ['resources/read', { uri: 'docs://va\u200bult/a' }],
    ['resources/read', { uri: 'docs://vault/a ' }],
    ['resources/read', { uri: 'docs://vault/a\u0000' }],
    ['resources/read', { uri: `docs://${'x'.repeat(9_000)}` }],
    ['resources/subscribe', { name: 'docs://vault/a' }],
    ['prompts/get', { name: 'secret\u200d' }],
    ['prompts/get', { name: ['secret'] }],
    ['prompts/get', {}],
    ['completion/complete', {}],
    ['completion/complete', { ref: 'secret' }],
    ['completion/complete', { ref: { type: 'ref/prompt' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', Name: 'secret', name: 'open' } }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'secret\u00ad' } }],
    ['Resources/Read', { uri: 'docs://vault/a' }],
    ['resources/read\u0000', { uri: 'docs://vault/a' }],
    ['\uff50rompts/get', { name: 'secret' }],
    ['COMPLETION/complete', { ref: { type: 'ref/prompt', name: 'secret' } }],
  ] as const;
  for (const [method, what] of params) assert.equal(await codeOf(client, method, what), -32600, `${method} ${JSON.stringify(what).slice(0, 80)}`);
  const twice = '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"open","name":"secret"},"argument":{}}}';
  assert.equal((await client.post(twice)).message.error?.code, -32600);
  for (const [method, what] of [['resources/read', { uri: 'docs://vault/a' }], ['prompts/get', { name: 'secret' }]] as const) {
    assert.equal((await client.post({ jsonrpc: '2.0', method, params: what })).status, 400);
  }
  assert.equal(upstream.requests.length, before);
});

test('a header that repeats the URI is compared with the URI, not with another member (A8)', async (t) => {
  const { client, upstream, before } = await begin(t);
  const read = (headers: Record<string, string>) => client.post({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'docs://public/a', name: 'docs://vault/a' } }, headers);
  assert.equal((await read({ 'Mcp-Name': 'docs://vault/a' })).message.error?.code, -32600);
  assert.equal(upstream.requests.length, before);
  await read({ 'Mcp-Name': 'docs://public/a' });
  assert.equal(upstream.requests.length, before + 1);
});

test('a brace or a slash more or less does not turn a protected resource into another one (A8)', async (t) => {
  const file = 'upstreams: { main: { url: "${UPSTREAM}", rules: [{ resources: ["docs://vault/*", "https://docs.example/", "docs://wiki/secret/"], requires: [key] }] } }';
  const { url, upstream } = await startGateway(t, { file });
  const client = await connect(url);
  const before = upstream.requests.length;
  for (const uri of ['docs://%76ault/a?{', 'DOCS://VAULT/a#{x}', 'docs://public/../vault/a?{x}', 'docs://x@vault/{', 'docs:\\\\vault\\{a}', 'https://docs.example', 'https://docs.example#{', 'docs://wiki/secret']) {
    assert.equal(await codeOf(client, 'resources/read', { uri }), 1401, uri);
  }
  assert.equal(upstream.requests.length, before);
  await codeOf(client, 'resources/read', { uri: 'docs://public/{a}' });
  await codeOf(client, 'resources/read', { uri: 'docs://public/a?{' });
  assert.equal(upstream.requests.length, before + 2);
});
