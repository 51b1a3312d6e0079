import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { referencePage, schemaFile } from '../../config/reference.ts';

const stale = 'stale: run `node config/reference.ts`';

test('The shipped JSON Schema is what the definitions say', () => {
  assert.ok(readFileSync(new URL('../../config/elicitgate.schema.json', import.meta.url), 'utf8') === schemaFile(), stale);
});

test('The reference of all keys is what the definitions say', () => {
  assert.ok(readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8') === referencePage(), stale);
});
