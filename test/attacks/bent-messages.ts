/**
 * Messages that are nearly right, made from the parts of a protected call (attack A8, fault B8): bent in their
 * JSON, their bytes and their headers, but never so that the call itself could go through.
 */
import fc from 'fast-check';
import type { RecordedRequest } from '../kit/recorder.ts';

const odd = fc.oneof(fc.json({ maxDepth: 2 }), fc.constantFrom('', '01', '1.', 'NaN', '-', '"\\u12"', '"\n"', '{"a":1,"a":2}', `${'['.repeat(3_000)}${']'.repeat(3_000)}`, '"\ud800"'));
const mostly = (usual: string) => fc.oneof({ weight: 16, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd });

/** A key as it is, or so that some other reader might take it for the same. */
const spelled = (key: string) =>
  fc.oneof(
    { weight: 24, arbitrary: fc.constant(`"${key}"`) },
    { weight: 1, arbitrary: fc.constantFrom(`"${key.toUpperCase()}"`, `"\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}"`, `"${key} "`, `'${key}'`, key, `"${key}\\u0000"`, `"${key.replace('s', 'ſ')}"`) },
  );

const space = fc.oneof({ weight: 60, arbitrary: fc.constantFrom('', ' ', '\n', '\t\r') }, { weight: 1, arbitrary: fc.constantFrom('\u00a0', '/**/', '\ufeff') });
const member = (key: string, value: fc.Arbitrary<string>) => fc.tuple(space, spelled(key), space, value, space).map(([a, name, b, text, c]) => `${a}${name}${b}:${text}${c}`);

/** An object of these members in any order, now and then one missing, or one more of its kind. */
const objectOf = (...members: readonly fc.Arbitrary<string>[]) =>
  fc
    .tuple(...members.map((one) => fc.oneof({ weight: 24, arbitrary: one.map((text) => [text]) }, { weight: 2, arbitrary: fc.tuple(one, one) }, { weight: 2, arbitrary: fc.constant([]) })))
    .chain((made) => fc.shuffledSubarray(made.flat(), { minLength: made.flat().length }))
    .map((texts) => `{${texts.join(',')}}`);

const oneOf = (usual: string, other: string) => fc.oneof({ weight: 3, arbitrary: mostly(usual) }, { weight: 1, arbitrary: fc.constant(other) });
const params = objectOf(member('name', oneOf('"paid"', '"free"')), member('arguments', mostly('{}')), member('_meta', mostly('{"progressToken":1}')));
const message = objectOf(
  member('jsonrpc', mostly('"2.0"')),
  member('id', mostly('7')),
  member('method', oneOf('"tools/call"', '"ping"')),
  member('params', fc.oneof({ weight: 16, arbitrary: params }, { weight: 1, arbitrary: odd })),
);

const damage: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { weight: 8, arbitrary: fc.constant((text: string) => text) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom('', '"', '\\', '{', '}', '[', ',', ':', '\0', '\ufeff', '\ud800', '7')).map(([at, character]) => (text: string) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + character + text.slice(place + 1);
    }),
  },
  { weight: 1, arbitrary: fc.nat().map((at) => (text: string) => text.slice(0, at % (text.length + 1))) },
  { weight: 1, arbitrary: fc.constantFrom((text: string) => `[${text}]`, (text: string) => text + text, (text: string) => `${text}\n${text}`, (text: string) => JSON.stringify(text), (text: string) => `data: ${text}\n\n`) },
);

const encoding = fc.oneof({ weight: 12, arbitrary: fc.constant('utf8' as const) }, { weight: 1, arbitrary: fc.constantFrom('utf16le' as const, 'latin1' as const, 'base64' as const) });

const headers = fc.record({
  'Content-Type': fc.oneof({ weight: 8, arbitrary: fc.constant('application/json') }, { weight: 1, arbitrary: fc.constantFrom('Application/JSON; charset=UTF-8', 'text/plain', 'application/json; charset=utf-16', ';;', 'application/x-ndjson') }),
  Accept: fc.oneof({ weight: 8, arbitrary: fc.constant('application/json, text/event-stream') }, { weight: 1, arbitrary: fc.constantFrom('*/*', 'text/html', ',') }),
  'MCP-Protocol-Version': fc.constantFrom('2025-11-25', '2025-11-25', '2026-07-28', 'x', '9999-99-99'),
  'Mcp-Name': fc.constantFrom('free', 'paid', '=?base64?ZnJlZQ==?='),
  'X-Anything': fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
});

export interface BentRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const bentRequest: fc.Arbitrary<BentRequest> = fc.tuple(message, damage, encoding, headers).map(([whole, bend, how, sent]) => ({
  headers: { ...sent, 'X-Anything': sent['X-Anything'].trim() },
  body: Buffer.from(bend(whole), how),
}));

/** Among the members of any `params`, past up to three levels of values. */
const namesTool = /\bparams["']?:\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\bname["']?:["']?paid/;

/**
 * Whether any reader, however lenient, could take this for the call that must not go through: one that skips what
 * is no JSON, reads keys without quotes, in any case, trimmed, or up to a NUL.
 */
export function couldBeTheCall({ body }: RecordedRequest): boolean {
  const said = body.toString().replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  const bare = said.replace(/\0[^"']*/g, '').replace(/\s|\/\*\*\//g, '').toLowerCase().replaceAll('\u017f', 's');
  return /\bmethod["']?:["']?tools\\?\/call/.test(bare) && namesTool.test(bare);
}

/** What may come back to them. */
export const codes: ReadonlySet<number | undefined> = new Set([undefined, -32700, -32600, -32042]);
export const statuses: ReadonlySet<number> = new Set([200, 202, 400, 406, 415]);
