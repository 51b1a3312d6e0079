/** Unmodified servers from the registry as programs behind the proxy, and one over the old HTTP transport. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePort, startChildServer } from '../../src/operate/child-server.ts';
import { programOf } from '../kit/installed.ts';
import { connect } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startProxy } from '../kit/proxy.ts';
import { startStdioGateway, textOf } from '../kit/stdio-gateway.ts';

const program = (name: string, ...args: string[]) => ({ command: process.execPath, args: [programOf(name), ...args] });
const key = planted('tok_ada-0d5f1c93');

interface Listed {
  readonly result?: { readonly tools?: readonly { readonly name: string }[] };
}

describe('unmodified servers over stdio', { concurrency: 2 }, () => {
  test('server-everything lists its tools, and its get-env shows the person’s own variable, scrubbed', async (t) => {
    const { as, give } = await startStdioGateway(t, { program: program('@modelcontextprotocol/server-everything', 'stdio'), variable: 'API_TOKEN', tools: '[get-env]' });
    const ada = await as('ada');
    const tools = ((await ada.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).message as Listed).result?.tools?.map(({ name }) => name) ?? [];
    assert.ok(tools.includes('get-env') && tools.includes('echo'));
    assert.match((await ada.call('echo', { message: 'hello' })).text, /Echo: hello/);
    await give('ada', ada, 'get-env', key);
    assert.equal((JSON.parse(textOf(await ada.call('get-env'))) as Record<string, string>)['API_TOKEN'], '[redacted]');
  });

  test('notion-mcp-server lists its tools without a key; what its calls carry is a soak of its own', async (t) => {
    const { as } = await startStdioGateway(t, { program: program('@notionhq/notion-mcp-server'), variable: 'NOTION_TOKEN' });
    const ada = await as('ada');
    assert.match((await ada.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, /"API-get-users"/);
    assert.match((await ada.call('API-get-users')).text, /\/connect\//);
  });

  test('brave-search-mcp-server, which ends without its key, lists its tools with discoveryEnv (P4)', async (t) => {
    const { as } = await startStdioGateway(t, { program: program('@brave/brave-search-mcp-server'), variable: 'BRAVE_API_KEY', with: 'discoveryEnv: { BRAVE_API_KEY: placeholder }' });
    const ada = await as('ada');
    assert.match((await ada.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, /"brave_web_search"/);
    assert.match((await ada.call('brave_web_search', { query: 'x' })).text, /\/connect\//);
    const without = await startStdioGateway(t, { program: program('@brave/brave-search-mcp-server'), variable: 'BRAVE_API_KEY' });
    assert.equal((await without.as('ada')).opened.message.error?.code, 1502);
  });

  test('server-github negotiates its own old version and lists its tools', async (t) => {
    const { as } = await startStdioGateway(t, { program: program('@modelcontextprotocol/server-github'), variable: 'GITHUB_PERSONAL_ACCESS_TOKEN' });
    const ada = await as('ada');
    assert.match(ada.opened.text, /"protocolVersion":"2024-11-05"/);
    assert.equal(((await ada.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).message as Listed).result?.tools?.length, 26);
  });
});

test('server-everything over HTTP+SSE lists its tools, answers calls and sends progress', async (t) => {
  const port = await freePort();
  const server = await startChildServer({ ...program('@modelcontextprotocol/server-everything', 'sse'), env: { PATH: process.env['PATH'], PORT: String(port) }, ready: /running on port|listening on port/i, startWithinMs: 30_000 });
  t.after(() => server.close());
  const proxy = await startProxy(`upstreams: { main: { transport: sse, url: "http://127.0.0.1:${port}/sse" } }`);
  t.after(() => proxy.close());
  const client = await connect(`${proxy.origin}/mcp`);
  await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  assert.match((await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).text, /"get-env"/);
  assert.match((await client.call('echo', { message: 'hello' })).text, /Echo: hello/);
  const long = await client.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 }, _meta: { progressToken: 'p' } } });
  assert.match(long.text, /"progressToken":"p"[\s\S]*"id":9/);
  assert.equal((await client.bare('DELETE')).status, 200);
});
