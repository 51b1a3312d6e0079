/** Scopes by rule: a question names those that are missing, what was granted stays, and less than is needed is told. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { goThrough, headingOf, startAccount } from '../../kit/account-setup.ts';
import { startThirdParty } from '../../kit/third-party.ts';

const third = await startThirdParty();
after(() => third.close());
const account = `issuer: "${third.issuer}", ${third.client}, scopes: [read]`;
const rules = '[{ tools: [paid], requires: [box] }, { tools: [echo], requires: [{ credential: box, scopes: [write] }] }, { tools: [free], requires: [{ credential: box, scopes: [admin] }, { credential: box, scopes: [write] }] }]';

test('a tool asks for the scopes of its rule beside those of the file, and the others go on with what there is', async (t) => {
  const { client, connect, link, tokens } = await startAccount(t, { account, rules });
  await connect();
  assert.match((await client.call('paid')).text, /"paid"/);
  const refused = await client.call('echo');
  assert.match(refused.message.error?.data?.elicitations?.[0]?.message ?? '', /needs your Box account with permission for write to run “echo”/);
  assert.equal(headingOf(await connect(await link('echo'))), 'Box is connected');
  for (const tool of ['echo', 'paid']) assert.match((await client.call(tool)).text, /"result"/);
  const token = tokens().at(-1)?.replace('Bearer ', '') ?? '';
  assert.deepEqual((await third.check(token))?.scopes, ['read', 'write']);
});

test('one question asks for everything that a call needs, and what was granted before is asked for again with it', async (t) => {
  const { client, connect, link, tokens } = await startAccount(t, { account, rules });
  await connect(await link('echo'));
  const asked = (await client.call('free')).message.error?.data?.elicitations ?? [];
  assert.equal(asked.length, 1);
  assert.match(asked[0]?.message ?? '', /permission for admin, write/);
  await connect(asked[0]?.url);
  await client.call('free');
  assert.deepEqual((await third.check(tokens().at(-1)?.replace('Bearer ', '') ?? ''))?.scopes.toSorted(), ['admin', 'read', 'write']);
});

test('whoever leaves a permission out is told which, what she gave is kept, and the question stays open', async (t) => {
  const { client, ada, link } = await startAccount(t, { account, rules });
  const address = await link('echo');
  third.withhold(['write']);
  t.after(() => { third.withhold([]); });
  const page = await goThrough(ada, address);
  assert.deepEqual([page.status, headingOf(page)], [200, 'Some permissions are missing']);
  assert.match(page.html, /<p>write<\/p>/);
  assert.match((await client.call('paid')).text, /"paid"/);
  assert.equal((await client.call('echo')).message.error?.code, -32042);
  third.withhold([]);
  assert.equal(headingOf(await goThrough(ada, address)), 'Box is connected');
  assert.match((await client.call('echo')).text, /"result"/);
});
