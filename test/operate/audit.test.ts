import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { UnavailableError } from '../../src/errors.ts';
import { openAudit, type AuditEvent, type AuditFacts, type AuditSettings } from '../../src/operate/audit.ts';

const time = Date.UTC(2026, 10, 30, 12, 0, 0, 7);
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'elicitgate-audit-'));
  path = join(folder, 'logs', 'audit.jsonl');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const stdoutOnly: AuditSettings = { to: [{ kind: 'stdout' }], required: false };
const noStdout = (): void => assert.fail('nothing goes to standard output');
const neverFails = (error: unknown): void => { assert.fail(String(error)); };
/** What one event leaves on standard output. */
function linesOf(event: AuditEvent, about: AuditFacts): readonly string[] {
  const lines: string[] = [];
  const audit = openAudit(stdoutOnly, (line) => lines.push(line), () => time, neverFails);
  audit.record(event, about);
  audit.close();
  return lines;
}

const facts: AuditFacts = {
  principal: { issuer: 'https://id.example.com', subject: 'ada', clientId: 'client-1' },
  upstream: 'main',
  credential: 'github',
  tool: 'get_me',
  clientName: 'Editor',
  rung: 'url-error',
};

test('an event is one JSON line with its time, what happened, to whom and where', () => {
  assert.deepEqual(linesOf('asked', facts), [
    '{"time":"2026-11-30T12:00:00.007Z","audit":"asked","issuer":"https://id.example.com","subject":"ada","clientId":"client-1","upstream":"main","credential":"github","tool":"get_me","clientName":"Editor","rung":"url-error"}\n',
  ]);
});

test('what is not known is left out, and of a person only who she is', () => {
  const person = { issuer: 'local', subject: 'me', name: 'Me', token: 'canary' };
  const lines = linesOf('stored', { principal: person, upstream: 'main', credential: 'github', tool: undefined, outcome: 'accepted' });
  assert.deepEqual(lines, ['{"time":"2026-11-30T12:00:00.007Z","audit":"stored","issuer":"local","subject":"me","upstream":"main","credential":"github","outcome":"accepted"}\n']);
});

test('whatever a client calls itself or its tools, an event stays one line', () => {
  const lines = linesOf('asked', { ...facts, tool: 'a\r\n{"audit":"used"}', clientName: '"\u0000\u001b[31m' });
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.split(/[\r\n]/).length, 2);
  assert.equal((JSON.parse(lines[0] ?? '') as { tool: string }).tool, 'a\r\n{"audit":"used"}');
});

test('a new file can be read by its owner only, and an existing one is added to', () => {
  const first = openAudit({ to: [{ kind: 'file', path }], required: true }, noStdout, () => time, neverFails);
  first.record('asked', facts);
  // On the disk before anything else happens.
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 2);
  first.record('used', facts);
  first.close();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'logs')).mode & 0o777, 0o700);
  const second = openAudit({ to: [{ kind: 'file', path }], required: true }, noStdout, () => time, neverFails);
  second.record('stored', facts);
  second.close();
  const events = readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => (JSON.parse(line) as { audit: string }).audit);
  assert.deepEqual(events, ['asked', 'used', 'stored']);
});

test('each of several targets gets every line', () => {
  const lines: string[] = [];
  const audit = openAudit({ to: [{ kind: 'stdout' }, { kind: 'file', path }], required: false }, (line) => lines.push(line), () => time, neverFails);
  audit.record('asked', facts);
  audit.close();
  assert.deepEqual(lines, [readFileSync(path, 'utf8')]);
});

test('uses that need not be written leave together at the end of a turn, or with the next event of another kind', async () => {
  const written: string[] = [];
  const audit = openAudit(stdoutOnly, (lines) => written.push(lines), () => time, neverFails);
  const lengths = (): number[] => written.map((lines) => lines.trimEnd().split('\n').length);
  audit.record('used', facts);
  audit.record('used', facts);
  assert.deepEqual(lengths(), []);
  await new Promise(setImmediate);
  assert.deepEqual(lengths(), [2]);
  audit.record('used', facts);
  audit.record('rejected', facts);
  assert.deepEqual(lengths(), [2, 1, 1]);
});

test('a line that must be written and cannot be stops what it is about', { skip: !existsSync('/dev/full') && 'needs /dev/full' }, () => {
  const brokenPipe = (): never => { throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }); };
  for (const [to, stdout] of [[[{ kind: 'file', path: '/dev/full' }], noStdout], [[{ kind: 'stdout' }], brokenPipe]] as const) {
    const audit = openAudit({ to, required: true }, stdout, () => time, neverFails);
    assert.throws(() => { audit.record('used', facts); }, UnavailableError);
  }
});

test('a line that need not be written is reported when it cannot be, and the others still are', { skip: !existsSync('/dev/full') && 'needs /dev/full' }, () => {
  const lines: string[] = [];
  const failures: unknown[] = [];
  const audit = openAudit({ to: [{ kind: 'file', path: '/dev/full' }, { kind: 'stdout' }], required: false }, (line) => lines.push(line), () => time, (error) => failures.push(error));
  audit.record('used', facts);
  audit.close();
  assert.equal(lines.length, 1);
  assert.equal(failures.length, 1);
});

test('a file that cannot be opened is said at start, whether or not it is required', () => {
  writeFileSync(join(folder, 'logs'), 'a file where a folder should be');
  for (const required of [true, false]) {
    assert.throws(
      () => openAudit({ to: [{ kind: 'file', path }], required }, noStdout, () => time, neverFails),
      (error) => error instanceof UnavailableError && error.message === `the audit file ${path} cannot be opened`,
    );
  }
});

test('on a full disk a line is cut at most once, and the next one begins on its own', { skip: process.platform !== 'linux' && 'limits the size of files with ulimit' }, () => {
  // The file may have 1,024 bytes; then it is emptied, as somebody would who needs room.
  const script = `
    import { truncateSync } from 'node:fs';
    import { openAudit } from ${JSON.stringify(import.meta.resolve('../../src/operate/audit.ts'))};
    const audit = openAudit({ to: [{ kind: 'file', path: ${JSON.stringify(path)} }], required: true }, () => {}, () => 0, () => {});
    const facts = { principal: { issuer: 'local', subject: 'ada' }, upstream: 'main', credential: 'x'.repeat(300) };
    let written = 0;
    try { for (;;) { audit.record('used', facts); written += 1; } } catch (error) { console.log(error.name, written); }
    truncateSync(${JSON.stringify(path)}, 500);
    audit.record('stored', facts);`;
  const child = spawnSync('bash', ['-c', 'ulimit -f 1; exec "$0" --input-type=module -e "$1"', process.execPath, script], { encoding: 'utf8' });
  assert.equal(child.stdout, 'UnavailableError 2\n', child.stderr);
  const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  assert.equal((JSON.parse(last) as { audit: string }).audit, 'stored');
});

test('docs/audit.md explains every event, and no other', () => {
  const [, union = ''] = /export type AuditEvent =([^;]*);/.exec(readFileSync(new URL('../../src/operate/audit.ts', import.meta.url), 'utf8')) ?? [];
  const [, table = ''] = /\| event \| means \|\n([^]*?)\n\n/.exec(readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')) ?? [];
  const named = (text: string, name: RegExp): string[] => [...text.matchAll(name)].map((match) => match[1] ?? '').sort();
  const explained = table.split('\n').flatMap((row) => named(row.split('|')[1] ?? '', /`([\w-]+)`/g)).sort();
  assert.ok(explained.length > 0);
  assert.deepEqual(explained, named(union, /'([\w-]+)'/g));
});
