/** Three processes on one database behind a balancer: any of them serves any request, and what one changes the others know. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { skipWithout, type DatabaseServer } from '../kit/database-server.ts';
import { key } from '../kit/gateway.ts';
import { startIdentityProvider } from '../kit/identity-provider.ts';
import { connect, linkIn, provide, toolCall, urlMode, type McpClient } from '../kit/mcp-client.ts';
import { findPostgres, startPostgres } from '../kit/postgres-server.ts';
import { findRedis, startRedis } from '../kit/redis-server.ts';
import { startReplicas, type Replicas } from '../kit/replicas.ts';
import { bearer } from '../kit/right-person.ts';
import { ask, listen } from '../kit/streams.ts';
import { createWebVisitor, type WebVisitor } from '../kit/web-visitor.ts';

const provider = await startIdentityProvider({ redirectUris: [] });
after(() => provider.close());

const databases: readonly { readonly name: string; readonly skip: string | false; readonly start: () => Promise<DatabaseServer> }[] = [
  { name: 'Redis', skip: skipWithout('redis-server', findRedis()), start: () => startRedis() },
  { name: 'PostgreSQL', skip: skipWithout('postgresql', findPostgres()), start: () => startPostgres(['fsync=off']) },
];

/** Answers of `paid` at each replica. */
async function paidEverywhere(replicas: Replicas, client: McpClient): Promise<string[]> {
  const answers: string[] = [];
  for (const index of [0, 1, 2]) {
    replicas.balancer.sendTo(index);
    const { message } = await client.call('paid');
    answers.push(message.result?.content?.[0]?.text ?? `error ${message.error?.code}`);
  }
  return answers;
}

async function disconnect(web: WebVisitor, origin: string): Promise<void> {
  const { html } = await web.open(`${origin}/account`);
  const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const answer = await web.ask(`${origin}/account`, { method: 'POST', headers: { origin, 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action: 'disconnect' }) });
  assert.equal(answer.status, 303);
}

/** Calls again until the replica has heard of a change; fails with the test's own patience. */
async function untilAsked(client: McpClient): Promise<void> {
  while ((await client.call('paid')).message.error?.code !== -32042);
}

for (const { name, skip, start } of databases) {
  describe(`three replicas on ${name}`, { skip, timeout: 60_000 }, () => {
    test('initialize, call, login, callback, page, completion, revocation and DELETE each work at another replica than what came before', async (t) => {
      const database = await start();
      t.after(() => database.close());
      const replicas = await startReplicas(t, { store: database.url, identity: `{ oauth: { issuer: "${provider.issuer}", login: ${provider.login} } }` });
      const { balancer, url, upstream } = replicas;
      const token = await provider.token('ada', { audience: url });
      balancer.sendTo(0);
      const client = await connect(url, { capabilities: urlMode, headers: bearer(token) });
      const stream = await listen(client, bearer(token));
      balancer.sendTo(1);
      const link = linkIn((await client.call('paid')).text);
      // From here each request of the browser goes to the next replica.
      balancer.sendTo(undefined);
      const web = createWebVisitor();
      const page = await web.openAs('ada', link);
      assert.equal((await web.submit(page, { token: key, action: 'give' })).status, 200);
      await stream.until('notifications/elicitation/complete');
      assert.deepEqual(await paidEverywhere(replicas, client), ['paid', 'paid', 'paid']);
      assert.ok(upstream.requests.filter((request) => request.header('x-key') === key).length >= 3);
      // Every replica has the key in memory for an hour; only the store can tell it otherwise.
      balancer.sendTo(2);
      await disconnect(web, balancer.origin);
      for (const index of [0, 1]) {
        balancer.sendTo(index);
        await untilAsked(client);
      }
      balancer.sendTo(1);
      assert.equal((await client.bare('DELETE', bearer(token))).status, 200);
      assert.equal((await stream.over).end, 'whole');
      for (const index of [0, 1, 2]) {
        balancer.sendTo(index);
        assert.equal((await client.call('free')).status, 404, String(index));
      }
      for (const program of replicas.programs) assert.equal(program.stderr().includes(key), false);
    });
  });
}

describe('a rolling restart', { skip: skipWithout('redis-server', findRedis()), timeout: 60_000 }, () => {
  test('of three replicas fails no ordinary call and ends streams cleanly (B14)', async (t) => {
    const database = await startRedis();
    t.after(() => database.close());
    const replicas = await startReplicas(t, { store: database.url });
    const client = await connect(replicas.url, { capabilities: urlMode });
    await provide(client, 'paid', { token: key });
    const streams = await Promise.all([0, 1, 2].map((index) => {
      replicas.balancer.sendTo(index);
      return listen(client);
    }));
    replicas.balancer.sendTo(undefined);
    let isOver = false;
    const said = new Map<string, number>();
    const calling = async (tool: string): Promise<void> => {
      while (!isOver) {
        const answer = await (await ask(client, toolCall(tool))).over;
        said.set(`${tool} ${answer.end} ${answer.text.includes(`"text":"${tool}"`)}`, (said.get(`${tool} ${answer.end} ${answer.text.includes(`"text":"${tool}"`)}`) ?? 0) + 1);
      }
    };
    const load = Promise.all([calling('paid'), calling('free'), calling('paid')]);
    for (const index of [0, 1, 2]) await replicas.restart(index);
    isOver = true;
    await load;
    assert.deepEqual([...said.keys()].sort(), ['free whole true', 'paid whole true']);
    for (const stream of streams) assert.equal((await stream.over).end, 'whole');
    t.diagnostic(`calls meanwhile: ${[...said.values()].reduce((sum, count) => sum + count, 0)}`);
  });
});
