import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnavailableError } from '../../src/errors.ts';
import { createLog, describeError } from '../../src/operate/log.ts';

const canary = 'Bearer sk-canary-4f9d2c7b81';

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}

test('the text of a library’s error is never repeated: it may quote a key, a header, a body or a URL (A18, K1)', () => {
  const quoting = [
    caught(() => new Headers({ Authorization: `${canary}\nx` })),
    caught(() => JSON.parse(`{"key": ${canary}}`) as unknown),
    caught(() => new URL(canary)),
    new Error(canary),
    Object.assign(new Error('x'), { name: canary, code: canary }),
    new AggregateError([new Error(canary)], canary),
    new Error('outer', { cause: new TypeError(canary, { cause: canary }) }),
    canary,
    { message: canary },
  ];
  for (const error of quoting) assert.equal(describeError(error).includes('canary'), false, String(error));
});

test('an error is told by its kind, its code and what caused it', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:3000'), { code: 'ECONNREFUSED' });
  assert.equal(describeError(refused), 'Error ECONNREFUSED');
  assert.equal(describeError(new TypeError('fetch failed', { cause: refused })), 'TypeError < Error ECONNREFUSED');
  assert.equal(describeError('text'), 'string');
  assert.equal(describeError(undefined), 'undefined');
});

test('our own words are kept, and only ours: a foreign error of the same name is not quoted', () => {
  assert.equal(describeError(new UnavailableError('the SQLite store failed', { cause: new Error(canary) })), 'UnavailableError: the SQLite store failed < Error');
  assert.equal(describeError(Object.assign(new Error(canary), { name: 'UnavailableError' })), 'UnavailableError');
});

test('an error that causes itself has an end', () => {
  const circle = new Error('x');
  circle.cause = circle;
  assert.equal(describeError(circle), 'Error < Error < Error < Error < Error');
});

test('a log line is one JSON object with its level by name, or one line for people', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => { lines.push(line); } };
  createLog({ level: 'info', format: 'json' }, destination).info({ tool: 'a\nb' }, 'asked');
  createLog({ level: 'info', format: 'pretty' }, destination).info({ tool: 'a\nb' }, 'asked');
  createLog({ level: 'warn', format: 'json' }, destination).info({}, 'quiet');
  assert.match(lines[0] ?? '', /^\{"level":"info","time":"[^"]+","tool":"a\\nb","msg":"asked"\}\n$/);
  assert.match(lines[1] ?? '', /^\[\d\d:\d\d:\d\d\] INFO: asked \{"tool":"a\\nb"\}\n$/);
  assert.equal(lines.length, 2);
});
