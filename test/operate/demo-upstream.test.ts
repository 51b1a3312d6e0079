import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startContext7 } from '../kit/context7.ts';

test('the key in a caller’s header arrives at the API, each caller’s own', async () => {
  const context7 = await startContext7();
  try {
    for (const key of ['key-of-ann', 'key-of-bob']) {
      const response = await fetch(context7.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': key,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'query-docs', arguments: { libraryId: '/demo/x', query: 'hooks' } },
        }),
      });
      assert.match(await response.text(), /What \/demo\/x says about “hooks”/);
    }
    assert.deepEqual(context7.requests, [
      { path: '/v2/context', key: 'key-of-ann' },
      { path: '/v2/context', key: 'key-of-bob' },
    ]);
  } finally {
    await context7.close();
  }
});
