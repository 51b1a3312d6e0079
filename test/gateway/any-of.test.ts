import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { connect, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { openPage, submitPage } from '../kit/proxy.ts';
import { listen } from '../kit/streams.ts';

const [first, second] = [planted('choice-first-93ab71'), planted('choice-second-5c02df')];

const file = `
credentials:
  github: { kind: apiKey, title: GitHub, description: A token of yours, fields: [{ name: token, label: Token }], inject: { headers: { X-One: "{token}" } } }
  pack: { kind: apiKey, title: Pack, fields: [{ name: token, label: Code }], inject: { headers: { X-Two: "{token}" } } }
upstreams:
  main:
    url: "\${UPSTREAM}"
    rules:
      - { tools: [paid], requires: [{ anyOf: [github, pack] }] }
      - { tools: [free], requires: [pack] }`;

async function begin(t: TestContext) {
  const gateway = await startGateway(t, { file });
  return { ...gateway, client: await connect(gateway.url, { capabilities: urlMode }) };
}

async function questions(client: McpClient, tool: string) {
  return (await client.call(tool)).message.error?.data?.elicitations ?? [];
}

async function one(client: McpClient, tool: string) {
  const [question, ...more] = await questions(client, tool);
  assert.ok(question !== undefined && more.length === 0);
  return question;
}

test('a choice is one question, and its page offers each credential', async (t) => {
  const { client } = await begin(t);
  const question = await one(client, 'paid');
  assert.equal(question.message, 'main needs your GitHub or Pack credential to run “paid”. Open the page to give it; neither the assistant nor this client sees it.');
  const { status, html } = await openPage(question.url);
  assert.equal(status, 200);
  assert.match(html, /Which one do you want to connect\?/);
  assert.deepEqual(html.match(/(?<=href=")\?lang=en&amp;with=\w+/g), ['?lang=en&amp;with=github', '?lang=en&amp;with=pack']);
  assert.doesNotMatch(html, /<input[^>]*name="token"/);
});

test('what she picked is taken, goes along alone, and finishes every link to the choice', async (t) => {
  const { client, upstream, proxy } = await begin(t);
  const [early, late] = [await one(client, 'paid'), await one(client, 'paid')];
  assert.equal((await submitPage(`${late.url}?with=pack`, { token: second })).status, 200);
  assert.match((await openPage(early.url)).html, /GitHub \/ Pack: all done already/);
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  const sent = upstream.requests.at(-1);
  assert.deepEqual([sent?.header('x-one'), sent?.header('x-two')], [undefined, second]);
  assert.deepEqual(proxy.audit.map(({ audit, credential }) => [audit, credential]), [
    ['asked', 'github|pack'],
    ['asked', 'github|pack'],
    ['opened', 'pack'],
    ['submitted', 'pack'],
    ['stored', 'pack'],
    ['used', 'pack'],
  ]);
});

test('of two that she has, the first in the file goes along', async (t) => {
  const { client, upstream } = await begin(t);
  const question = await one(client, 'paid');
  await submitPage(`${question.url}?with=github`, { token: first });
  await submitPage((await one(client, 'free')).url, { token: second });
  await client.call('paid');
  const sent = upstream.requests.at(-1);
  assert.deepEqual([sent?.header('x-one'), sent?.header('x-two')], [first, undefined]);
});

test('a form without a pick, or with one that is not offered, stores nothing and shows the choice again', async (t) => {
  const { client, proxy } = await begin(t);
  const { url } = await one(client, 'paid');
  for (const query of ['', '?with=other', '?with=github%7Cpack', '?with=pack&with=pack']) {
    const { html } = await submitPage(`${url}${query}`, { token: second });
    assert.match(html, /Which one do you want to connect\?/, query);
  }
  assert.ok(!proxy.audit.some(({ audit }) => audit === 'stored'));
});

test('giving a credential for itself answers the choices that it belongs to, and their sessions hear so', async (t) => {
  const gateway = await startGateway(t, { file, upstream: { get: 'open' } });
  const client = await connect(gateway.url, { capabilities: urlMode });
  const choice = await one(client, 'paid');
  const single = await one(client, 'free');
  const stream = await listen(client);
  await submitPage(single.url, { token: second });
  await stream.until(choice.elicitationId);
  await stream.until(single.elicitationId);
  assert.match((await openPage(choice.url)).html, /all done already/);
  stream.close();
});
