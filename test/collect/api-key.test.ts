import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { collectApiKey, type CollectedField } from '../../src/collect/api-key.ts';
import { parsePattern } from '../../src/config/pattern.ts';
import { parseTemplate } from '../../src/config/template.ts';

type Headers = Readonly<Record<string, string>>;

function collect(form: Readonly<Record<string, unknown>>, headers: Headers = { Authorization: 'Bearer {token}' }, ...fields: readonly Partial<CollectedField>[]) {
  const templates = Object.entries(headers).map(([name, source]) => {
    const value = parseTemplate(source);
    assert.ok(value.ok);
    return { name, value: value.value };
  });
  const whole = (fields.length === 0 ? [{}] : fields).map((field): CollectedField => ({ name: 'token', secret: true, multiline: false, ...field }));
  return collectApiKey(whole, templates, form);
}

/** The token as it would be stored. */
function stored(typed: string, headers?: Headers, field: Partial<CollectedField> = {}): string | undefined {
  const outcome = collect({ token: typed }, headers, field);
  return outcome.ok ? outcome.value.fields['token'] : undefined;
}

function problem(typed: unknown, headers?: Headers, field: Partial<CollectedField> = {}): string | undefined {
  const outcome = collect({ token: typed }, headers, field);
  return outcome.ok ? undefined : outcome.error.problems['token'];
}

function pattern(source: string) {
  const parsed = parsePattern(source);
  assert.ok(parsed.ok);
  return parsed.value;
}

test('space and line breaks around a pasted key are cut off (K1)', () => {
  for (const pasted of ['ghp_key', ' ghp_key ', 'ghp_key\n', '\r\nghp_key\r\n', '\tghp_key\u00a0', '\ufeffghp_key\u2028']) assert.equal(stored(pasted), 'ghp_key');
});

test('a key pasted with what the template puts in front of it is understood: "Bearer x", "Authorization: Bearer x" (E4)', () => {
  for (const pasted of ['Bearer ghp_key', 'bearer ghp_key', 'BEARER  ghp_key', 'Authorization: Bearer ghp_key', 'authorization:Bearer ghp_key', ' Authorization:  Bearer\tghp_key\n', 'Authorization: ghp_key']) {
    assert.equal(stored(pasted), 'ghp_key', pasted);
  }
});

test('a header with nothing but the key is understood with its name, also one with a text of its own in front', () => {
  assert.equal(stored('X-API-Key: abc', { 'X-API-Key': '{token}' }), 'abc');
  assert.equal(stored('x-api-key:abc', { 'X-API-Key': '{token}' }), 'abc');
  assert.equal(stored('token abc', { Authorization: 'token {token}' }), 'abc');
  assert.equal(stored('Authorization: Bearer abc', { 'X-API-Key': '{token}', Authorization: 'Bearer {token}' }), 'abc');
});

test('a key that only begins like the prefix stays whole', () => {
  for (const key of ['Bearerghp_key', 'Bearer', 'Authorization', 'Authorizationx: y', 'X-Other: abc', 'Token ghp_key', 'sk-Bearer x']) assert.equal(stored(key), key);
  assert.equal(stored('Basic abc', { Authorization: 'Basic {base64(token:)}' }), 'Basic abc', 'what is encoded has no prefix of its own');
  assert.equal(stored('Bearer x', { 'X-API-Key': '{token}' }), 'Bearer x');
});

test('what cannot stand in the header is refused before anything is stored (K1)', () => {
  for (const key of ['a\nb', 'a\r\nb', 'a\u0000b', 'a\u007fb', 'schlüssel', 'key\u200b', '\u{1f600}', 'a\tb', '\ud800']) assert.equal(problem(key), 'unusable', JSON.stringify(key));
  assert.equal(stored('a key with spaces'), 'a key with spaces');
});

test('what is encoded for its header may hold any letter, and no line break in a field of one line', () => {
  const basic = { Authorization: 'Basic {base64(token:)}' };
  assert.equal(stored('pässwörd', basic), 'pässwörd');
  assert.equal(problem('a\nb', basic), 'unusable');
  assert.equal(problem('a\u0000b', basic), 'unusable');
  assert.equal(problem('a\ud800', basic), 'unusable');
});

test('a key of several lines keeps them, as line feeds, where the header can take them', () => {
  const pem = '-----BEGIN KEY-----\r\nabc\r\n-----END KEY-----\r\n';
  const lines = '-----BEGIN KEY-----\nabc\n-----END KEY-----';
  for (const template of ['{base64(token)}', '{json(token)}']) assert.equal(stored(pem, { 'X-Key': template }, { multiline: true }), lines);
  assert.equal(problem(pem, { 'X-Key': '{token}' }, { multiline: true }), 'unusable');
  assert.equal(problem('a\u0007b', { 'X-Key': '{base64(token)}' }, { multiline: true }), 'unusable');
});

test('nothing, only space, a field that did not come or came twice is empty', () => {
  for (const typed of ['', '  \r\n', undefined, ['a', 'b'], {}, 1]) assert.equal(problem(typed), 'empty');
  assert.equal(problem('Authorization: '), 'empty');
});

test('a value that is too long for a header, or for any field, is said to be that', () => {
  assert.equal(stored('x'.repeat(8_192 - 'Bearer '.length)), 'x'.repeat(8_185));
  assert.equal(problem('x'.repeat(8_193 - 'Bearer '.length)), 'too-long');
  assert.equal(problem('x'.repeat(65_537), {}), 'too-long');
  assert.equal(stored('x'.repeat(65_536), {})?.length, 65_536);
});

test('the pattern of the file judges what will be stored, not what was pasted', () => {
  const github = { pattern: pattern('^ghp_\\w+$') };
  assert.equal(stored(' Bearer ghp_abc\n', undefined, github), 'ghp_abc');
  assert.equal(problem('gho_abc', undefined, github), 'pattern');
  assert.equal(problem('ghp_abc def', undefined, github), 'pattern');
});

test('every field is judged by itself, and what is fine is handed back beside the problems', () => {
  const fields = [{ name: 'email', secret: false, pattern: pattern('@') }, { name: 'token' }];
  const basic = { Authorization: 'Basic {base64(email:token)}', 'X-Mail': '{email}' };
  assert.deepEqual(collect({ email: ' a@b.example ', token: 't', other: 'x' }, basic, ...fields), { ok: true, value: { fields: { email: 'a@b.example', token: 't' } } });
  assert.deepEqual(collect({ email: 'ada', token: '' }, basic, ...fields), { ok: false, error: { fields: { email: 'ada', token: '' }, problems: { email: 'pattern', token: 'empty' } } });
  assert.deepEqual(collect({ email: 'ä@b.example', token: 't' }, basic, ...fields), { ok: false, error: { fields: { email: 'ä@b.example', token: 't' }, problems: { email: 'unusable' } } });
});

test('whatever is typed is either refused or makes a header that can be sent (K1)', () => {
  const typed = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '\t', ':', 'Bearer ', 'Authorization: ', 'é', '\0'), maxLength: 8 }));
  fc.assert(
    fc.property(typed, fc.constantFrom('Bearer {token}', '{token}', '{base64(token:)}', '{json(token)}'), fc.boolean(), (token, template, multiline) => {
      const value = stored(token, { Authorization: template }, { multiline });
      if (value === undefined) return;
      const parsed = parseTemplate(template);
      assert.ok(parsed.ok);
      assert.match(parsed.value.render({ token: value }), /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/);
    }),
    { numRuns: 500 },
  );
});
