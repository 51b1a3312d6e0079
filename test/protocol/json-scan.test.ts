import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanEnvelope } from '../../src/protocol/json-scan.ts';

type Member = readonly [key: string, text: string];

/** An object's text with spaces where JSON allows them, keys in any spelling, and members in their order. */
const objectText = (members: readonly Member[]): fc.Arbitrary<string> =>
  fc.tuple(...members.map(([key, text]) => fc.tuple(spelling(key), spaces, spaces, fc.constant(text), spaces))).map(
    (written) => `{${written.map(([key, before, after, text, end]) => `${before}${key}${after}:${text}${end}`).join(',')}}`,
  );

const spaces = fc.constantFrom('', '', ' ', '\n', '\t \r\n');

/** A JSON string that says this, with any of its characters escaped. */
function spelling(said: string): fc.Arbitrary<string> {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const units = [...said].map((character) => {
    const plain = JSON.stringify(character).slice(1, -1);
    return fc.constantFrom(plain, plain, plain, Array.from({ length: character.length }, (_, at) => escaped(character.charAt(at))).join(''));
  });
  return fc.tuple(...units).map((written) => `"${written.join('')}"`);
}

/** `__proto__` is refused for itself; everything else is a key like any other. */
const isOrdinary = (text: string): boolean => !text.includes('__proto__');
const valueText = fc.json({ maxDepth: 4 }).filter(isOrdinary);
const idText = fc.oneof(fc.maxSafeInteger().map(String), fc.constantFrom('9007199254740993', '0', '""', '-0', '1.50'), fc.string().map((text) => JSON.stringify(text)));
const toolName = fc.constantFrom('"free"', '"paid"', '"a\\"b"');
/** Keys of arguments: some that mean something elsewhere, some that are hard to read. */
const argumentKey = fc.oneof(fc.constantFrom('name', 'arguments', 'id', 'constructor', '', '"', '\\', ':', 'a,b', '{', '\u2028'), fc.string({ maxLength: 4 }));
const argumentsText: fc.Arbitrary<string> = fc.uniqueArray(fc.tuple(argumentKey, valueText), { maxLength: 4, selector: ([key]) => key }).chain(objectText);

interface Envelope {
  readonly id: string;
  readonly root: readonly Member[];
  readonly params: readonly Member[];
  readonly meta: readonly Member[];
}

const envelope: fc.Arbitrary<Envelope> = fc
  .record({ id: idText, name: toolName, args: argumentsText, cursor: valueText, meta: fc.uniqueArray(fc.tuple(fc.string().filter(isOrdinary), valueText), { maxLength: 3, selector: ([key]) => key }) })
  .map(({ id, name, args, cursor, meta }) => ({
    id,
    root: [['jsonrpc', '"2.0"'], ['id', id], ['method', '"tools/call"']],
    params: [['name', name], ['arguments', args], ['cursor', cursor]],
    meta,
  }));

/** The whole message; `at` gets one member more. */
function write({ root, params, meta }: Envelope, more?: { readonly at: 'root' | 'params' | 'meta'; readonly member: Member }): fc.Arbitrary<string> {
  const and = (level: string, members: readonly Member[]): readonly Member[] => (more?.at === level ? [...members, more.member] : members);
  return objectText(and('meta', meta)).chain((metaText) => objectText([...and('params', params), ['_meta', metaText]]).chain((paramsText) => objectText([...and('root', root), ['params', paramsText]])));
}

test('without duplicates a message has one meaning, and its id is found digit for digit (J1, J6)', () => {
  fc.assert(
    fc.property(envelope.chain((one) => write(one).map((text) => ({ one, text }))), ({ one, text }) => {
      JSON.parse(text);
      assert.deepEqual(scanEnvelope(text), { isUnambiguous: true, idText: one.id });
    }),
    { numRuns: 300 },
  );
});

test('with any key of a level that is read twice, however it is spelled and whatever its value, it has none (J6)', () => {
  const levels = ['root', 'params', 'meta'] as const;
  const doubled = envelope.chain((one) =>
    fc
      .constantFrom(...levels.flatMap((at) => one[at].map(([key]) => ({ at, key }))))
      .chain(({ at, key }) => valueText.chain((text) => write(one, { at, member: [key, text] }))),
  );
  fc.assert(
    fc.property(doubled, (text) => {
      JSON.parse(text);
      assert.equal(scanEnvelope(text).isUnambiguous, false);
    }),
    { numRuns: 300 },
  );
});

test('with a key twice at any depth of the arguments it has none (J6)', () => {
  const deep = fc.tuple(argumentKey.filter((key) => key !== ''), valueText, valueText, fc.array(fc.constantFrom('list', 'object'), { maxLength: 4 })).chain(([key, one, other, around]) =>
    objectText([[key, one], ['', '1'], [key, other]]).map((text) => around.reduce((inner, kind) => (kind === 'list' ? `[0,"x",${inner}]` : `{"y":1,"x":${inner}}`), text)),
  );
  fc.assert(
    fc.property(deep, (args) => {
      JSON.parse(args);
      assert.equal(scanEnvelope(`{"id":1,"params":{"name":"t","arguments":{"z":${args}}}}`).isUnambiguous, false);
    }),
    { numRuns: 300 },
  );
});
