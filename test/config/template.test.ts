import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseTemplate, type Template } from '../../src/config/template.ts';

function template(source: string): Template {
  const result = parseTemplate(source);
  assert.ok(result.ok, source);
  return result.value;
}

test('A field stands where its name is in braces', () => {
  assert.equal(template('Bearer {token}').render({ token: 'abc' }), 'Bearer abc');
  assert.deepEqual(template('{a}:{b}:{a}').fields, ['a', 'b']);
  assert.equal(template('{api-key}').render({ 'api-key': 'k' }), 'k');
});

test('base64 joins fields and what stands between them', () => {
  const basic = template('Basic {base64(email:token)}');
  assert.deepEqual(basic.fields, ['email', 'token']);
  assert.equal(basic.render({ email: 'ü@example.com', token: 't' }), 'Basic w7xAZXhhbXBsZS5jb206dA==');
});

test('json writes a field as a JSON string', () => {
  assert.equal(template('{{"token": {json(token)}}}').render({ token: 'a"b\n' }), '{"token": "a\\"b\\n"}');
});

test('Doubled braces are literal braces', () => {
  assert.equal(template('{{{token}}}').render({ token: 'x' }), '{x}');
  assert.equal(template('{{token}}').render({}), '{token}');
  assert.deepEqual(template('{{token}}').fields, []);
});

test('A value is never read as a template', () => {
  assert.equal(template('{a}{b}').render({ a: '{b}', b: '}}' }), '{b}}}');
});

test('Single braces, unknown functions and names that are no names are refused', () => {
  for (const source of ['{', '}', '{}', '{token', 'token}', '{ token }', '{a.b}', '{upper(a)}', '{base64()}', '{json(a:b)}', '{{a}', '{1a}']) {
    assert.equal(parseTemplate(source).ok, false, source);
  }
});

test('A field without a value is an error that names the field, and so is one of the language itself', () => {
  assert.throws(() => template('{token}').render({}), /field token/);
  assert.throws(() => template('{constructor}').render({}), /field constructor/);
});

test('What is escaped comes out as it went in', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', ' ', '😀', '\n') }), (text) => {
      const escaped = text.replaceAll('{', '{{').replaceAll('}', '}}');
      assert.equal(template(escaped).render({}), text);
    }),
    { numRuns: 200 },
  );
});

test('Every text is either refused or rendered, and rendering reads only the fields that it names', () => {
  const piece = fc.constantFrom('{', '}', '{a}', '{b-c}', '{base64(a:b)}', '{json(a)}', 'x', '{{', '}}', '(');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const result = parseTemplate(pieces.join(''));
      if (!result.ok) return;
      const values = Object.fromEntries(result.value.fields.map((name) => [name, 'v']));
      assert.equal(typeof result.value.render(values), 'string');
    }),
    { numRuns: 200 },
  );
});
