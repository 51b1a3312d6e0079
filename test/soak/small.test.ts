/** Every soak in small: what must be right is right; what only a quiet machine can say is left to `npm run soak`. */
import { describe, test } from 'node:test';
import { soaks } from './soaks.ts';

describe('in small', { concurrency: 3, timeout: 120_000 }, () => {
  for (const { name, row, what, small, run } of soaks) {
    test(`${name}: ${what} (${row}, ${small} times)`, async (t) => {
      for (const { what: measured, measured: value, unit } of (await run(small)).figures) t.diagnostic(`${measured}: ${value.toFixed(1)} ${unit}`);
    });
  }
});
