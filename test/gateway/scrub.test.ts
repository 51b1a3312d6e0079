import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createScrubber, redacted } from '../../src/gateway/scrub.ts';

function scrubberOf(...values: readonly string[]) {
  return createScrubber(values) ?? assert.fail('nothing to scrub');
}
const scrubbed = (secret: string, json: string): string => scrubberOf(secret).json(Buffer.from(json)).toString();
const scrubbedEvents = (secret: string, events: string): string => scrubberOf(secret).events(Buffer.from(events)).toString();

const key = 'ghp_0123+456/789=';
/** Characters that JSON and URLs write otherwise. */
const odd = 'pa"ss\\wo/rd ü%&<é>\'~!*()';

test('a secret is replaced wherever a string says it: in values, in keys, in lists, in errors (A10)', () => {
  const message = (said: string): string => `{"jsonrpc":"2.0","id":"${said}","error":{"code":-1,"message":"bad key ${said}!","data":{"${said}":["${said}",{"x ${said}${said}":null}]}}}`;
  assert.equal(scrubbed(key, message(key)), message(redacted));
});

test('bytes without a secret go through as the same bytes', () => {
  for (const text of ['{"a":"nothing here"}', '{"a":"\\u0041 \\/ \\" \\\\ ü"}', 'not JSON at all', '', '{"n":1e400,"big":9007199254740993}', '{"a":"gh', Buffer.from([0xff, 0xfe, 0x22])]) {
    const bytes = Buffer.from(text);
    assert.equal(scrubberOf(key, odd).json(bytes), bytes);
    assert.equal(scrubberOf(key, odd).events(bytes), bytes);
  }
});

test('what stands beside a secret keeps its bytes: spaces, escapes, big numbers and their digits (A10, J3)', () => {
  assert.equal(scrubbed(key, ` {"a" : 9007199254740993 ,"b":"\\u0041\\/","c":"${key}","d":1.0e2}\n`), ` {"a" : 9007199254740993 ,"b":"\\u0041\\/","c":"[redacted]","d":1.0e2}\n`);
});

test('every way of escaping a secret in JSON is understood (A10)', () => {
  const hex = (text: string): string => [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  for (const spelled of [hex(key), hex(key).toUpperCase().replaceAll('\\U', '\\u'), `ghp_${hex('0123')}+456\\/789=`, key.replace('g', '\\u0067')]) {
    assert.equal(scrubbed(key, `{"t":"x ${spelled}"}`), '{"t":"x [redacted]"}');
  }
  assert.equal(scrubbed('line one\nline\ttwo', '{"t":"line one\\nline\\ttwo","u":"line one\\u000Aline\\u0009two"}'), '{"t":"[redacted]","u":"[redacted]"}');
});

test('JSON within JSON within JSON is looked into, and stays JSON at every level (A10)', () => {
  for (const secret of [key, odd, 'line one\nline two', '"quoted-key"', 'c:\\new\\temp']) {
    let text: unknown = { deep: [`a ${secret} b`], [secret]: 1, plain: 'x\\n"y"' };
    for (let level = 0; level < 5; level += 1) text = { text: JSON.stringify(text) };
    let clean: unknown = JSON.parse(scrubbed(secret, JSON.stringify(text)));
    for (let level = 0; level < 5; level += 1) clean = JSON.parse((clean as { readonly text: string }).text);
    assert.deepEqual(clean, { deep: ['a [redacted] b'], [redacted]: 1, plain: 'x\\n"y"' });
  }
});

test('JSON within prose whose quotes do not pair up is looked into as well (A10)', () => {
  const text = `a 5" disk failed: {"key":${JSON.stringify(odd).replaceAll('/', '\\/')}}`;
  assert.equal(scrubbed(odd, JSON.stringify({ text })).includes('wo'), false);
});

test('base64 is found at every alignment inside longer base64, in both alphabets (A10)', () => {
  const secret = 'x>>?~secret??>';
  for (const before of ['', 'u', 'us', 'usr', 'user:']) {
    for (const after of ['', ':', 'ab', 'tail of it']) {
      for (const alphabet of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + secret + after).toString(alphabet);
        const clean = (JSON.parse(scrubbed(secret, JSON.stringify({ a: `Basic ${text}` }))) as { readonly a: string }).a;
        assert.match(clean, /^Basic [\w+/-]*\[redacted\][\w+/=-]*$/);
        assert.equal(Buffer.from(clean.slice('Basic '.length), alphabet).includes(secret), false);
        assert.ok(clean.length < text.length, clean);
      }
    }
  }
});

test('base64 is found with the slash escaped, as PHP writes it (A10)', () => {
  const text = Buffer.from('???>>>???>>>').toString('base64');
  assert.match(text, /\//);
  assert.equal(scrubbed('???>>>???>>>', `{"a":"${text.replaceAll('/', '\\/')}","b":${JSON.stringify(`{"c":"${text.replaceAll('/', '\\/')}"}`)}}`), '{"a":"[redacted]","b":"{\\"c\\":\\"[redacted]\\"}"}');
});

test('a secret in a URL is found as each of the usual encoders writes it, in upper and lower case (A10)', () => {
  const upper = 'pa%22ss%5Cwo%2Frd%20%C3%BC%25%26%3C%C3%A9%3E';
  const written = [
    `${upper}'~!*()`,
    `${upper}%27~%21%2A%28%29`,
    `${upper.replace('%2F', '/')}%27~%21%2A%28%29`,
    `${upper.replace('%20', '+')}%27%7E%21*%28%29`,
    encodeURI(odd),
  ];
  for (const url of [...written, ...written.map((text) => text.replace(/%../g, (code) => code.toLowerCase()))]) {
    assert.equal(scrubbed(odd, `{"u":"https://x.example/?key=${url}&y=1"}`), '{"u":"https://x.example/?key=[redacted]&y=1"}', url);
  }
});

test('a secret is found however much of it a URL escapes, in URLs within URLs, and in hex (A10)', () => {
  const secret = 'ab$c-d_e&f;12,34:z @9';
  const bytes = [...Buffer.from(secret)].map((byte) => byte.toString(16));
  const all = bytes.map((byte) => `%${byte}`).join('');
  for (const spelled of [
    'ab$c-d_e&f%3B12%2C34:z%20@9',
    'ab$c-d_e&f;12,34%3az%20%409',
    'ab%24c%2Dd%5Fe%26f%3B12%2C34%3Az%20%409',
    'ab%24c%2dd%5Fe%26f%3b12%2C34%3az+%409',
    all,
    encodeURIComponent(encodeURIComponent(secret)),
    bytes.join(''),
    bytes.join('').toUpperCase(),
  ]) {
    assert.equal(scrubbed(secret, `{"u":"/?k=${spelled}/100%","n":"%zz"}`), '{"u":"/?k=[redacted]/100%","n":"%zz"}', spelled);
    assert.equal(scrubbedEvents(secret, `id: x${spelled}\n\n`), 'id: x[redacted]\n\n', spelled);
  }
});

test('a secret is found in HTML with named, decimal and hexadecimal entities (A10)', () => {
  const secret = `a<b>c&d"e'1234ü`;
  for (const spelled of ['a&lt;b&gt;c&amp;d&quot;e&#39;1234ü', 'a&LT;b&gt;c&#38;d&#34;e&apos;1234&#252;', '&#x61;<b&#x3E;c&#x0026;d&quot;e&#x27;1234&#xfc;', 'a\u0026lt;b\u0026gt;c\u0026amp;d\u0026#34;e\u0026#39;1234\u00fc']) {
    const json = spelled.includes('\\') ? spelled : JSON.stringify(spelled).slice(1, -1);
    assert.equal(scrubbed(secret, `{"h":"&amp; <p>${json}</p> &nbsp; &#"}`), '{"h":"&amp; <p>[redacted]</p> &nbsp; &#"}', spelled);
  }
});

test('JSON escapes in prose are understood at every depth, and nothing beside them changes (A10)', () => {
  const secret = 'ab<cd>&e"f\\g/h';
  let spelled = 'ab\\u003ccd\\u003e\\u0026e\\"f\\\\g\\/h';
  for (let depth = 0; depth < 5; depth += 1) {
    assert.equal(scrubbed(secret, `{"t":"said: \\u003c ${spelled} \\\\n"}`), '{"t":"said: \\u003c [redacted] \\\\n"}', spelled);
    spelled = JSON.stringify(spelled).slice(1, -1);
  }
});

test('each line of at least 8 characters of a secret is one, and its line ends are found in both kinds (A10, A30)', () => {
  const pem = '-----BEGIN KEY-----\r\nMIIEvQIBADANBgkq\nhkiG9w0B\nshort\n-----END KEY-----';
  assert.equal(scrubbed(pem, '{"a":"no MIIEvQIBADANBgkq","b":"hkiG9w0B!","c":"short"}'), '{"a":"no [redacted]","b":"[redacted]!","c":"short"}');
  for (const ends of ['\n', '\r\n']) {
    const text = pem.replaceAll(/\r?\n/g, ends);
    assert.equal(scrubbed(pem, JSON.stringify({ a: `x ${text} y` })), '{"a":"x [redacted] y"}');
    assert.equal(scrubbed(pem, JSON.stringify({ a: `x ${encodeURIComponent(text)} y` })), '{"a":"x [redacted] y"}');
  }
});

test('an escape beside a secret is not cut in two, and a letter of an escape is no part of a secret (A10)', () => {
  assert.equal(scrubbed('nabcdefgh', '{"a":"\\nabcdefgh","b":"\\nnabcdefgh","c":"\\\\","d":"nabcdefgh\\""}'), '{"a":"\\nabcdefgh","b":"\\n[redacted]","c":"\\\\","d":"[redacted]\\""}');
  assert.equal(scrubbed('schlüssel-😀', '{"a":"\\u00fcschl\\u00fcssel-\\ud83d\\ude00\\ud83d"}'), '{"a":"\\u00fc[redacted]\\ud83d"}');
});

test('a secret that has quotes at its ends leaves the quotes of the JSON alone (A10)', () => {
  assert.equal(scrubbed('"abcdefgh"', '{"a":"abcdefgh"}'), '{"a":"abcdefgh"}');
  assert.equal(scrubbed('"abcdefgh"', '{"a":"\\"abcdefgh\\""}'), '{"a":"[redacted]"}');
  assert.equal(scrubbed('","b":"xyz', '{"a":"1","b":"xyz"}'), '{"a":"1","b":"xyz"}');
});

test('what is shorter than 8 characters is left alone, so that nobody finds a short secret by guessing (A30)', () => {
  assert.equal(createScrubber(['1234567', '', 'true']), undefined);
  const scrubber = scrubberOf('1234567', 'long-enough');
  assert.equal(scrubber.json(Buffer.from('{"a":"1234567 MTIzNDU2Nw== long-enough"}')).toString(), '{"a":"1234567 MTIzNDU2Nw== [redacted]"}');
});

test('a secret that is a number, or looks like JSON, breaks none: only strings are touched (A30)', () => {
  for (const secret of ['12345678', '-1234.5678e+9', '12345,67890', '[[[[[[[[', '}]}]}]}]', 'null,null', 'true:false']) {
    const json = `{"a":12345678,"b":-1234.5678e+9,"c":[12345,67890],"d":[[[[[[[[${']'.repeat(8)},"e":[{"x":[{"x":[{"x":[{"x":[null,null]}]}]}]}],"f":${JSON.stringify(`a ${secret} b`)}}`;
    assert.equal(scrubbed(secret, json), json.replace(JSON.stringify(`a ${secret} b`), '"a [redacted] b"'));
  }
});

test('what is no JSON is scrubbed all the same (A10)', () => {
  assert.equal(scrubbed(key, `<h1>${key}</h1>`), '<h1>[redacted]</h1>');
  assert.equal(scrubbed(key, `{"a":"cut off ${key}`), '{"a":"cut off [redacted]');
  assert.equal(scrubbed(key, `{"a":"bad \\x ${key}"} ${key}`), '{"a":"bad \\x [redacted]"} [redacted]');
});

test('of two secrets of which one contains the other the longer goes whole, and both go (A10)', () => {
  const scrubber = scrubberOf('ghp_abcdef', 'Bearer ghp_abcdef', 'ghp_abcdef-2');
  assert.equal(scrubber.json(Buffer.from('{"a":"Bearer ghp_abcdef|ghp_abcdef-2|ghp_abcdef"}')).toString(), '{"a":"[redacted]|[redacted]|[redacted]"}');
});

test('events are scrubbed line by line, in their data and beside it, and keep their line ends (A10)', () => {
  assert.equal(
    scrubbedEvents(key, `: ${key}\r\nid: ${key}\r\nevent: message\r\ndata: {"a":\r\ndata:"\\u0067${key.slice(1)}",\r\ndata: "n":12345678}\r\n\r\nretry: 1\r\r`),
    ': [redacted]\r\nid: [redacted]\r\nevent: message\r\ndata: {"a":\r\ndata:"[redacted]",\r\ndata: "n":12345678}\r\n\r\nretry: 1\r\r',
  );
  assert.equal(scrubbedEvents('12345678', 'id: 12345678\ndata: {"n":12345678,"s":"12345678"}\n\n'), 'id: [redacted]\ndata: {"n":12345678,"s":"[redacted]"}\n\n');
});

test('a secret as long as a field may be is scrubbed too (A10)', () => {
  const long = 'MIIEvQ/"\\\n'.repeat(6_500);
  assert.equal(scrubbed(long, JSON.stringify({ a: `x${long}y` })), '{"a":"x[redacted]y"}');
});

test('in no spelling does a secret come through, the message stays JSON, and nothing else changes (A10, A30)', () => {
  const printable = fc.string({ minLength: 8, maxLength: 24 });
  const secrets = fc.oneof(printable, fc.string({ unit: fc.constantFrom('a', '"', '\\', '/', '%', '+', '\n', 'ü', ' ', '0', '[', ','), minLength: 8, maxLength: 16 }), fc.stringMatching(/^[0-9]{8,12}$/)).filter((secret) => secret.trim() === secret && !'around [redacted] it'.includes(secret));
  const spelled = fc.constantFrom<(secret: string) => string>(
    (secret) => secret,
    (secret) => JSON.stringify(secret).slice(1, -1),
    (secret) => encodeURIComponent(secret),
    (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    (secret) => new URLSearchParams({ k: secret }).toString().slice(2),
  );
  fc.assert(
    fc.property(secrets, spelled, fc.integer({ min: 0, max: 3 }), fc.boolean(), (secret, spell, levels, isKey) => {
      const build = (said: string): unknown => {
        let carrier: unknown = isKey ? { [said]: 1 } : { said };
        for (let level = 0; level < levels; level += 1) carrier = { text: JSON.stringify(carrier) };
        return { jsonrpc: '2.0', id: 12345678, result: { carrier, numbers: [1234567890123, 0.5, null, true], around: 'unchanged \\ "x"' } };
      };
      const clean = scrubbed(secret, JSON.stringify(build(`around ${spell(secret)} it`)));
      assert.deepEqual(JSON.parse(clean), build('around [redacted] it'));
    }),
    { numRuns: 400 },
  );
});

test('a text is scrubbed alike whether it is short or long, and so is each secret that its strings say (A10)', () => {
  const secret = 'a"b/c\\d%e&f g\n';
  const long = 'x'.repeat(2_000);
  const part = fc.constantFrom('a', 'b', '/', '%', '&', ' ', '"', '\\', '\\n', '\\"', '\\/', '\\\\', '\\u0061', '%25', '&amp;', '&#97;', JSON.stringify(secret).slice(1, -1), JSON.stringify(JSON.stringify(secret)).slice(1, -1), encodeURIComponent(secret));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const said = parts.join('');
      const short = scrubbed(secret, `{"a":"${said}"}`);
      assert.equal(scrubbed(secret, `{"b":"${long}","a":"${said}"}`), `{"b":"${long}",${short.slice(1)}`);
      const whole = JSON.parse(scrubbed(secret, JSON.stringify({ a: said + secret }))) as { readonly a: string };
      assert.ok(!whole.a.includes(secret) && whole.a.includes(redacted));
    }),
    { numRuns: 500 },
  );
});

test('of secrets that repeat and overlap in every way, all goes that belongs to one (A10)', () => {
  const text = (minLength: number, maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength, maxLength });
  const repeated = fc.tuple(text(1, 4), fc.integer({ min: 2, max: 12 }), text(0, 3)).map(([part, times, end]) => part.repeat(times) + end);
  const secrets = fc.array(fc.oneof(repeated, text(8, 12)).filter((secret) => secret.length >= 8), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(secrets, fc.array(fc.oneof(repeated, text(0, 9)), { maxLength: 8 }), fc.array(fc.nat({ max: 3 })), (values, parts, picks) => {
      const said = [...parts, ...picks.flatMap((pick, index) => [values[pick] ?? '', parts[index] ?? ''])].join('');
      assert.equal(scrubberOf(...values).json(Buffer.from(JSON.stringify({ said }))).toString(), JSON.stringify({ said: redactedOneByOne(said, values) }));
    }),
    { numRuns: 500 },
  );
});

/** The same in the slow way: every place of every secret, and what overlaps as one. */
function redactedOneByOne(said: string, secrets: readonly string[]): string {
  const places = secrets.flatMap((secret) => Array.from(said, (_, from) => ({ from, to: from + secret.length })).filter(({ from }) => said.startsWith(secret, from)));
  let result = '';
  let end = 0;
  let isBegun = false;
  for (const { from, to } of places.sort((a, b) => a.from - b.from)) {
    if (!isBegun || from >= end) result += said.slice(end, from) + redacted;
    isBegun = true;
    end = Math.max(end, to);
  }
  return result + said.slice(end);
}

/**
 * Eight times as much may take 27 times as long: three for each doubling, where two is linear and four is quadratic.
 * One try in which it does not is enough, since what else the machine does makes only some of them slow.
 */
function assertLinear(what: string, prepare: (size: number) => () => unknown): void {
  const [one, eight] = [prepare(1), prepare(8)];
  const time = (act: () => unknown): number => {
    const begun = performance.now();
    act();
    return performance.now() - begun;
  };
  const tries: string[] = [];
  const isLinear = (): boolean => {
    const least = Math.min(...Array.from({ length: 5 }, () => time(one)));
    const most = time(eight);
    tries.push(`${least} ms, then ${most} ms`);
    return most < least * 27;
  };
  time(eight);
  assert.ok(Array.from({ length: 12 }).some(isLinear), `${what}: ${tries.join('; ')}`);
}

test('a longer secret in a longer text costs as much more as both are longer, whatever they repeat (A10)', () => {
  const shapes: readonly { readonly unit: string; readonly secret: (times: number) => string }[] = [
    { unit: 'a', secret: (times) => `${'a'.repeat(times)}b${'a'.repeat(times)}` },
    { unit: 'a', secret: (times) => `b${'a'.repeat(times)}` },
    { unit: 'a', secret: (times) => `${'a'.repeat(times)}b` },
    { unit: 'ab', secret: (times) => `${'ab'.repeat(times)}c${'ab'.repeat(times)}` },
  ];
  for (const { unit, secret } of shapes) {
    for (const before of ['', '\\u0061', '%61 &#97;']) {
      assertLinear(`${secret(3)} after ${before}`, (size) => {
        const scrubber = scrubberOf(secret(500 * size));
        const message = Buffer.from(`{"x":"${before}${unit.repeat(25_000 * size)}"}`);
        return () => scrubber.json(message);
      });
    }
  }
});

test('more secrets cost as much more to prepare as they are more (A10)', () => {
  assertLinear('secrets', (size) => {
    const secrets = Array.from({ length: 100 * size }, (_, index) => `${((index + 1) * 0x9e3779b1).toString(36)}-${index}`);
    return () => createScrubber(secrets);
  });
});
