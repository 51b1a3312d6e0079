import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import * as z from 'zod';
import { jsonSchema, plainSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { fileOf } from './load-text.ts';

// The same JSON, typed as zod types it.
const validator = z.fromJSONSchema(jsonSchema() as z.core.JSONSchema.JSONSchema);

function accepts(text: string): boolean {
  return validator.safeParse(parse(text)).success;
}

test('The schema accepts the example files before values from outside are put in', () => {
  for (const name of ['example.yaml', 'minimal.yaml']) {
    const text = readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8');
    const result = validator.safeParse(parse(text, { merge: true }));
    assert.deepEqual(result.error?.issues, undefined, name);
  }
});

test('Unknown keys are refused at every depth, except those beginning with x-', () => {
  assert.equal(accepts(fileOf({ sever: '{}' })), false);
  assert.equal(accepts(fileOf({ server: '{ listn: a }' })), false);
  assert.equal(accepts(fileOf({ server: '{ x-note: a }', 'x-note': 'a' })), true);
  assert.equal(accepts(fileOf({ credentials: '{ x-base: { any: thing } }' })), true);
});

test('Wrong units, words and types are marked in the editor, values from outside are not', () => {
  assert.equal(accepts(fileOf({ server: '{ drain: 30 }' })), false);
  assert.equal(accepts(fileOf({ server: '{ drain: 30x }' })), false);
  assert.equal(accepts(fileOf({ server: '{ drain: "${DRAIN}" }' })), true);
  assert.equal(accepts(fileOf({ log: '{ level: loud }' })), false);
  assert.equal(accepts(fileOf({ log: '{ level: "${LEVEL:-info}" }' })), true);
});

test('Every key has one sentence that explains it', () => {
  const missing: string[] = [];
  const visit = (schema: JsonSchema, path: string): void => {
    for (const [key, child] of Object.entries(schema.properties ?? {})) {
      if (child.description === undefined || !/^\S.*\.$/.test(child.description)) missing.push(`${path}.${key}`);
      visit(child, `${path}.${key}`);
    }
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${path}.*`);
    for (const variant of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) visit(variant, path);
    if (schema.items !== undefined) visit(schema.items, `${path}[]`);
  };
  visit(plainSchema(), '');
  assert.deepEqual(missing, []);
});
