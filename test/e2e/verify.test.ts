/** A key that is tried before it is stored, in a real browser without scripts, at the unmodified Context7 server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from '../kit/chromium.ts';
import { startContext7 } from '../kit/context7.ts';
import { startProxy } from '../kit/proxy.ts';
import { planted } from '../kit/planted.ts';
import { question, tool } from '../kit/protected-context7.ts';
import { startRecorder } from '../kit/recorder.ts';
import { connectSdkClient } from '../kit/sdk-client.ts';

const { browser, skip } = await chromium();
const good = planted('ctx7sk-tried-and-good-3e8f');
const bad = planted('ctx7sk-tried-and-bad-6b20');

test('the page says that the key was refused, keeps the e-mail and not the key, and stores the good one; Context7 gets that one alone', { skip }, async (t) => {
  const judge = await startRecorder((request) => ({ status: request.header('x-api-key') === good ? 200 : 403 }));
  const context7 = await startContext7();
  const proxy = await startProxy(`
credentials:
  context7:
    kind: apiKey
    title: Context7
    fields: [{ name: email, label: E-mail, secret: false }, { name: key, label: API key }]
    verify: { url: "${judge.url}", headers: { X-API-Key: "{key}" } }
    inject: { headers: { Authorization: "Bearer {key}" } }
upstreams:
  context7: { title: Context7 tools, url: "${context7.url}", rules: [{ tools: [${tool}], requires: [context7] }] }
`);
  const client = await connectSdkClient(`${proxy.origin}/mcp`);
  const context = await browser?.newContext({ javaScriptEnabled: false, locale: 'en' });
  t.after(async () => {
    await context?.close();
    await browser?.close();
    await client.close();
    await proxy.close();
    await context7.close();
    await judge.close();
  });
  const page = await context?.newPage();
  assert.ok(page !== undefined);
  await page.goto((await client.ask(tool, question))[0]?.url ?? '');
  await page.getByText(`${new URL(judge.url).host} is asked whether it is valid`).waitFor();
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('API key').fill(bad);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'This was not accepted' }).waitFor();
  assert.equal(await page.getByLabel('E-mail').inputValue(), 'ada@example.com');
  assert.equal(await page.getByLabel('API key').inputValue(), '');
  assert.equal((await page.content()).includes(bad), false);
  await page.getByLabel('API key').fill(good);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('heading', { name: 'Context7 is connected' }).waitFor();
  await client.call(tool, question);
  assert.deepEqual(judge.requests.map((request) => request.header('x-api-key')), [bad, good]);
  assert.deepEqual([...new Set(context7.requests.map((seen) => seen.key))], [good]);
});
