/** A program that writes what it was told to its standard error, which goes to our log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StdioUpstream } from '../../src/config/config.ts';
import { createStdioUpstream } from '../../src/upstreams/stdio.ts';
import { configOf, fileOf } from '../config/load-text.ts';
import { planted } from '../kit/planted.ts';
import { signalGroup } from '../kit/signal-group.ts';

const key = planted('sk-argument-4410c9d2ab');
const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
/** Says every line that it reads on standard error, too. */
const program = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line);
  process.stderr.write('got ' + line + '\\n', () => console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} })));
});`;

test('what a later call puts into arguments of a running process reaches no log (A19)', async (t) => {
  const lines: string[] = [];
  const logged = Promise.withResolvers<void>();
  const config = configOf(t, fileOf({ upstreams: `{ u: { transport: stdio, command: ${JSON.stringify(process.execPath)}, args: [-e, ${JSON.stringify(program)}] } }` }));
  const report = ({ line }: Readonly<Record<string, unknown>>): void => {
    lines.push(String(line));
    if (String(line).includes('"second"')) logged.resolve();
  };
  const upstream = createStdioUpstream(config.upstreams['u'] as StdioUpstream, { report, now: Date.now, signalGroup });
  t.after(() => upstream.close());
  const call = (name: string, args: object, secrets: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name, arguments: args, _meta } }));
      upstream.send({ method: 'POST', headers: [], body, person: 'ada', env: {}, secrets }, { onResponseEnd: () => { resolve(); }, onResponseError: (_controller, error) => { reject(error); } });
    });
  await call('first', {}, []);
  await call('second', { token: key }, [key]);
  await logged.promise;
  assert.ok(lines.some((line) => line.includes('"second"') && line.includes('[redacted]')), lines.join('\n'));
  assert.ok(!lines.join().includes(key));
});
