/** The official client of the second generation, in both eras, against unmodified servers of both. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startContext7, type Context7 } from '../kit/context7.ts';
import { startEverything } from '../kit/everything.ts';
import { planted } from '../kit/planted.ts';
import { protectContext7, question, tool } from '../kit/protected-context7.ts';
import { startProxy, submitPage } from '../kit/proxy.ts';

type Negotiation = NonNullable<ConstructorParameters<typeof Client>[1]>['versionNegotiation'];

const key = planted('ctx7sk-a-key-of-her-own');
let context7: Context7;

before(async () => {
  context7 = await startContext7();
});
after(() => context7.close());

/** A client whose person opens links: `open` gets each, and says what she chose. */
async function connect(t: TestContext, url: string, versionNegotiation: Negotiation, open?: (link: string) => Promise<'accept' | 'decline'>): Promise<Client> {
  const client = new Client({ name: 'second', version: '1' }, { capabilities: open === undefined ? {} : { elicitation: { url: {} } }, ...(versionNegotiation === undefined ? {} : { versionNegotiation }) });
  if (open !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      assert.equal(params.mode, 'url');
      return { action: await open(params.url ?? "") };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  t.after(() => client.close());
  return client;
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return JSON.stringify(result);
}

for (const [name, negotiation] of [['pinned', { mode: { pin: '2026-07-28' } }], ['auto', { mode: 'auto' }]] as const) {
  test(`a modern client (${name}) with URL mode gives its key in one call: asked, held, answered (C1)`, async (t) => {
    const { proxy } = await protectContext7(t, context7);
    const links: string[] = [];
    const client = await connect(t, `${proxy.origin}/mcp`, negotiation, async (link) => {
      links.push(link);
      await submitPage(link, { key });
      return 'accept';
    });
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    const result = await client.callTool({ name: tool, arguments: question });
    assert.notEqual(result.isError, true, textOf(result));
    assert.equal(links.length, 1);
    assert.equal(context7.requests.at(-1)?.key, key);
    await client.callTool({ name: tool, arguments: question });
    assert.equal(links.length, 1);
  });
}

test('a modern client whose person agrees first and gives her key later gets its result in the same call', async (t) => {
  const { proxy } = await protectContext7(t, context7);
  const client = await connect(t, `${proxy.origin}/mcp`, { mode: 'auto' }, (link) => {
    setImmediate(() => void submitPage(link, { key }));
    return Promise.resolve('accept');
  });
  const result = await client.callTool({ name: tool, arguments: question });
  assert.notEqual(result.isError, true, textOf(result));
});

test('a modern client whose person declines learns it from the result, and one without URL mode gets the link as text', async (t) => {
  const { proxy } = await protectContext7(t, context7);
  const declining = await connect(t, `${proxy.origin}/mcp`, { mode: 'auto' }, () => Promise.resolve('decline'));
  const declined = await declining.callTool({ name: tool, arguments: question });
  assert.equal(declined.isError, true);
  assert.match(textOf(declined), /declined/);
  const plain = await connect(t, `${proxy.origin}/mcp`, { mode: 'auto' });
  const told = await plain.callTool({ name: tool, arguments: question });
  assert.equal(told.isError, true);
  assert.match(textOf(told), /\/connect\//);
});

test('a held legacy call of the same client ends with its result', async (t) => {
  const { proxy } = await protectContext7(t, context7, '\nelicitation: { delivery: hold }');
  const client = await connect(t, `${proxy.origin}/mcp`, undefined, async (link) => {
    await submitPage(link, { key });
    return 'accept';
  });
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  const result = await client.callTool({ name: tool, arguments: question });
  assert.notEqual(result.isError, true, textOf(result));
});

test('in front of a legacy server a client of both eras falls back to initialize, and a pinned one is refused as without the proxy', async (t) => {
  const everything = await startEverything();
  t.after(() => everything.close());
  const proxy = await startProxy(`upstreams: { main: { url: "${everything.url}" } }`);
  t.after(() => proxy.close());
  const client = await connect(t, `${proxy.origin}/mcp`, { mode: 'auto' });
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  assert.match(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hello' } })), /hello/);
  for (const url of [everything.url, `${proxy.origin}/mcp`]) await assert.rejects(connect(t, url, { mode: { pin: '2026-07-28' } }), url);
});
