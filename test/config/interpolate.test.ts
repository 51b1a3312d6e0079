import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fill } from '../../src/config/interpolate.ts';

const env = { TOKEN: 'secret', EMPTY: '', LIKE: '${TOKEN}' };

function noFile(): string {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
}

function filled(text: string): string {
  const result = fill(text, env, noFile);
  assert.ok(result.ok, text);
  return result.value.text;
}

test('A variable stands where its name is, as often as it is named', () => {
  assert.equal(filled('Bearer ${TOKEN}'), 'Bearer secret');
  assert.equal(filled('${TOKEN}${TOKEN}'), 'secretsecret');
});

test('A default counts for a variable that is not set or empty', () => {
  assert.equal(filled('${MISSING:-default}'), 'default');
  assert.equal(filled('${EMPTY:-default}'), 'default');
  assert.equal(filled('${TOKEN:-default}'), 'secret');
  assert.equal(filled('${MISSING:-}'), '');
  assert.equal(filled('${MISSING:-http://a:1/?b=c-d}'), 'http://a:1/?b=c-d');
  assert.equal(filled('${EMPTY}'), '');
});

test('A doubled dollar sign makes it literal', () => {
  assert.equal(filled('$${TOKEN}'), '${TOKEN}');
  assert.equal(filled('$${TOKEN} ${TOKEN} $'), '${TOKEN} secret $');
  assert.equal(filled('$$5 and $5'), '$$5 and $5');
});

test('What was put in is not read again', () => {
  assert.equal(filled('${LIKE}'), '${TOKEN}');
});

test('The content of a file comes without its trailing newline, and with every other', () => {
  const contents: Readonly<Record<string, string>> = { '/a': 'x\n', '/b': 'x\r\n', '/c': 'x\n\n', '/d': '\nx y' };
  const read = (path: string) => contents[path] ?? noFile();
  const texts = ['/a', '/b', '/c', '/d'].map((path) => fill(`\${file:${path}}`, env, read));
  assert.deepEqual(
    texts.map((result) => result.ok && result.value.text),
    ['x', 'x', 'x\n', '\nx y'],
  );
});

test('A missing variable or file is named', () => {
  assert.deepEqual(fill('${MISSING} ${file:/run/x}', env, noFile), {
    ok: false,
    error: [
      { found: 'the environment variable MISSING is not set', right: 'set MISSING, or write ${MISSING:-…} with a default' },
      { found: 'the file /run/x cannot be read (ENOENT)', right: 'a file that exists and that this process may read' },
    ],
  });
});

test('A name of the language itself is not a variable', () => {
  assert.equal(fill('${constructor}', env, noFile).ok, false);
});

test('What is open, empty, nested or no name is refused', () => {
  for (const text of ['${TOKEN', '${}', '${1A}', '${A B}', '${MISSING:-${TOKEN}}', '${TOKEN-x}', '${:-x}']) {
    assert.equal(fill(text, env, noFile).ok, false, text);
  }
});

test('Only what came from outside is marked as such', () => {
  assert.deepEqual(fill('$${TOKEN}', env, noFile), { ok: true, value: { text: '${TOKEN}', isFromOutside: false } });
  assert.deepEqual(fill('x${TOKEN}', env, noFile), { ok: true, value: { text: 'xsecret', isFromOutside: true } });
});

test('Texts without ${ stay as they are, and escaping brings every text through', () => {
  const text = fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-', '😀') });
  fc.assert(
    fc.property(text, (some) => {
      const escaped = some.replaceAll('${', () => '$${');
      assert.equal(filled(escaped), some);
    }),
    { numRuns: 200 },
  );
});
