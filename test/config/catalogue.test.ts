import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCatalogue } from '../../src/config/catalogue.ts';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';

const initialize = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}';

/** What is wrong with such a file. */
function fault(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  writeFileSync(join(folder, 'c.json'), text);
  const read = readCatalogue(join(folder, 'c.json'));
  rmSync(folder, { recursive: true });
  return read.ok ? '' : read.error;
}

test('A catalogue says how the upstream opens, and lists what a client could use', () => {
  assert.equal(fault(`{"initialize":${initialize},"tools":[{"name":"a","inputSchema":{"type":"object"},"more":1}],"resources":[],"prompts":[{"name":"p"}]}`), '');
  assert.equal(fault(`{"initialize":${initialize}}`), '');
});

test('What is missing or misspelled in it is named by its place', () => {
  assert.match(fault('no json'), /^a JSON file \(this is none\)$/);
  assert.match(fault('{}'), /initialize: /);
  assert.match(fault(`{"initialize":{"protocolVersion":"new","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`), /initialize\.protocolVersion: .*a version such as 2025-11-25/);
  assert.match(fault(`{"initialize":${initialize},"tools":[{"name":"a","inputSchema":{}},{"inputSchema":{}}]}`), /tools\.1\.name: /);
  assert.match(fault(`{"initialize":${initialize},"tool":[]}`), /tool/);
});

test('The file’s place is told with the problem, and nothing starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  writeFileSync(join(folder, 'c.json'), '{}');
  writeFileSync(join(folder, 'elicitgate.yaml'), `version: 1\nidentity: { local: { user: ada } }\nvault: { store: "memory:", keys: ["${Buffer.alloc(32, 1).toString('base64')}"] }\nupstreams:\n  u: { url: "http://127.0.0.1:1", catalogue: ./c.json }\n`);
  const config = loadConfig([join(folder, 'elicitgate.yaml')], {});
  rmSync(folder, { recursive: true });
  assert.ok(!config.ok);
  assert.match(config.error.map(formatProblem).join('\n'), /elicitgate\.yaml:5:46 upstreams\.u\.catalogue: "\.\/c\.json"; a catalogue: \{ initialize, discover\?, .*\(initialize: /);
});
