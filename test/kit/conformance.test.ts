import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConformanceServer } from './conformance-server.ts';
import { runConformance } from './conformance.ts';

test('our conformance server passes every check of 2025-11-25', async () => {
  const server = await startConformanceServer();
  try {
    const statuses = [...(await runConformance(server.url)).values()];
    assert.deepEqual([...new Set(statuses)].sort(), ['INFO', 'SUCCESS']);
    assert.equal(statuses.filter((status) => status === 'SUCCESS').length, 84);
  } finally {
    await server.close();
  }
});
