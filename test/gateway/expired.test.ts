/** A secret with an end: asked for anew before a call could fail with it, and told on the pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, linkIn, provide, urlMode } from '../kit/mcp-client.ts';
import { openPage, submitPage } from '../kit/proxy.ts';

const day = 86_400_000;
const file = (life: string): string => `credentials: { key: { kind: apiKey, title: Key, expiresAfter: ${life}, fields: [{ name: token, label: Key }], inject: { headers: { X-Key: "{token}" } } } }`;
const dayOf = (time: number): string => new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(time);

test('what has expired is asked for before it is sent, and the page says since when', async (t) => {
  const { url, proxy, upstream } = await startGateway(t, { file: file('20d') });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const stored = Date.now();
  proxy.pass(20 * day - 60_000);
  assert.equal((await client.call('paid')).message.result?.content?.[0]?.text, 'paid');
  proxy.pass(60_000);
  const calls = upstream.requests.length;
  const asked = await client.call('paid');
  assert.equal(asked.message.error?.code, -32042);
  assert.equal(upstream.requests.length, calls);
  const { html } = await openPage(linkIn(asked.text), { 'accept-language': 'en' });
  assert.ok([0, 1].some((late) => html.includes(`What you stored before expired on ${dayOf(stored + 20 * day + late)}, so it is not used any more.`)), html);
  assert.equal((await submitPage(linkIn(asked.text), { token: key })).status, 200);
});

test('the account page shows until when, warns within the last week, and says when it was over', async (t) => {
  const { url, proxy } = await startGateway(t, { file: file('90d') });
  const client = await connect(url, { capabilities: urlMode });
  await provide(client, 'paid', { token: key });
  const account = async (): Promise<string> => (await openPage(`${proxy.origin}/account`, { 'accept-language': 'en' })).html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  const fresh = await account();
  assert.ok(fresh.includes('Valid until') && !fresh.includes('It expires soon.'), fresh);
  proxy.pass(83 * day + 1_000);
  const late = await account();
  assert.ok(late.includes('Connected') && late.includes('It expires soon.'), late);
  proxy.pass(7 * day);
  const over = await account();
  assert.ok(over.includes('Expired on') && over.includes('Its time is over') && !over.includes('It expires soon.'), over);
});
