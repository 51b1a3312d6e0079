import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDemoApi, type DemoApi } from '../../src/operate/demo-api.ts';

let api: DemoApi;
before(async () => {
  api = await startDemoApi();
});
after(() => api.close());

test('a search names one library after what was looked for', async () => {
  const response = await fetch(`${api.url}/v2/libs/search?query=hooks&libraryName=Next.js`);
  const { results } = (await response.json()) as { results: { id: string; title: string }[] };
  assert.deepEqual(
    results.map(({ id, title }) => ({ id, title })),
    [{ id: '/demo/next-js', title: 'Next.js' }],
  );
});

test('documentation comes as plain text about the library and the question', async () => {
  const response = await fetch(`${api.url}/v2/context?query=How%3F&libraryId=%2Fdemo%2Fx`);
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(await response.text(), /^### How\?\n\nSource: https:\/\/context7\.com\/demo\/x\n/);
});

test('any other path is not found', async () => {
  const response = await fetch(`${api.url}/v2/else`);
  assert.equal(response.status, 404);
});

test('path and bearer key of every request are remembered in order', async () => {
  const earlier = api.seen.length;
  await fetch(`${api.url}/v2/context?query=a`, { headers: { authorization: 'Bearer first-key' } });
  await fetch(`${api.url}/v2/context?query=b`, { headers: { authorization: 'Basic not-a-bearer' } });
  assert.deepEqual(api.seen.slice(earlier), [
    { path: '/v2/context', key: 'first-key' },
    { path: '/v2/context', key: undefined },
  ]);
});
