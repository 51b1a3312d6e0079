import assert from 'node:assert/strict';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKeyRing, lengthPrefixed, randomId, type Purpose } from '../../src/vault/key-ring.ts';

const [firstKey, secondKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const ring = createKeyRing([firstKey]);
const identity = ['default', 'secret/ada/github'];
const plaintext = Buffer.from('ghp_canary');
const purposes: readonly Purpose[] = ['secret', 'record', 'session', 'csrf'];

test('what was sealed opens again, also when it is empty or large', () => {
  for (const bytes of [plaintext, Buffer.alloc(0), randomBytes(100_000)]) {
    assert.deepEqual(ring.open('secret', identity, ring.seal('secret', identity, bytes)), bytes);
  }
});

test('sealed bytes are version, key id, nonce, ciphertext and tag, and never twice the same', () => {
  const [one, other] = [ring.seal('secret', identity, plaintext), ring.seal('secret', identity, plaintext)];
  assert.equal(one.length, 1 + 8 + 12 + plaintext.length + 16);
  assert.equal(one[0], 1);
  assert.deepEqual(one.subarray(1, 9), other.subarray(1, 9));
  assert.notDeepEqual(one.subarray(9, 21), other.subarray(9, 21));
  assert.equal(one.includes(plaintext), false);
});

test('what was sealed for one purpose opens for no other', () => {
  for (const sealedFor of purposes) {
    const sealed = ring.seal(sealedFor, identity, plaintext);
    assert.deepEqual(purposes.filter((purpose) => ring.open(purpose, identity, sealed) !== undefined), [sealedFor]);
  }
});

test('the first key seals and all open, so a new key in front takes over and the old one may stay', () => {
  const old = ring.seal('secret', identity, plaintext);
  const rotated = createKeyRing([secondKey, firstKey]);
  assert.deepEqual(rotated.open('secret', identity, old), plaintext);
  const fresh = rotated.seal('secret', identity, plaintext);
  assert.equal(ring.open('secret', identity, fresh), undefined);
  const withoutOld = createKeyRing([secondKey]);
  assert.deepEqual(withoutOld.open('secret', identity, fresh), plaintext);
  assert.equal(withoutOld.open('secret', identity, old), undefined);
});

test('a ring without a key is a mistake', () => {
  assert.throws(() => createKeyRing([]));
});

test('no byte of what is sealed can be changed (A6)', () => {
  const sealed = ring.seal('secret', identity, plaintext);
  for (let at = 0; at < sealed.length; at += 1) {
    for (const bit of [1, 0x80]) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ bit, at);
      assert.equal(ring.open('secret', identity, changed), undefined, `byte ${at}`);
    }
  }
});

test('no byte can be cut off or added, and a shorter tag is no tag (A6)', () => {
  const sealed = ring.seal('secret', identity, plaintext);
  for (let length = 0; length < sealed.length; length += 1) {
    assert.equal(ring.open('secret', identity, sealed.subarray(0, length)), undefined, `${length} bytes`);
    assert.equal(ring.open('secret', identity, sealed.subarray(sealed.length - length)), undefined);
  }
  assert.equal(ring.open('secret', identity, Buffer.concat([sealed, Buffer.alloc(1)])), undefined);
});

test('a tag of four bytes that is right for the key does not open, although the cipher knows such tags', () => {
  // A forger needs 2^32 tries for one of these; the key is used here to have a right one at once.
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(hkdfSync('sha256', firstKey, Buffer.alloc(0), 'elicitgate/1/secret', 32)), nonce, { authTagLength: 4 });
  cipher.setAAD(lengthPrefixed(identity));
  const body = Buffer.concat([cipher.update(Buffer.alloc(40, 'x')), cipher.final()]);
  const head = ring.seal('secret', identity, plaintext).subarray(0, 9);
  assert.equal(ring.open('secret', identity, Buffer.concat([head, nonce, body, cipher.getAuthTag()])), undefined);
});

test('it opens under exactly the identity that it was sealed under (A20)', () => {
  const sealed = ring.seal('secret', ['a', 'bc'], plaintext);
  for (const other of [['a', 'bd'], ['ab', 'c'], ['abc'], ['a', 'b', 'c'], ['a', 'bc', ''], ['', 'a', 'bc'], ['bc', 'a'], ['A', 'bc'], ['a', 'bc\0'], []]) {
    assert.equal(ring.open('secret', other, sealed), undefined, JSON.stringify(other));
  }
  assert.deepEqual(ring.open('secret', ['a', 'bc'], sealed), plaintext);
});

test('no two lists of strings have the same prefixed bytes, not even with characters that UTF-8 cannot write (A20)', () => {
  const parts = fc.array(fc.oneof(fc.string({ maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 3 }), fc.constantFrom('\ud800', '\udc00', '\ufffd', '\0', '')), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      assert.equal(lengthPrefixed(one).equals(lengthPrefixed(other)), JSON.stringify(one) === JSON.stringify(other));
    }),
    { numRuns: 500, examples: [[['\ud800'], ['\ufffd']], [['\ud800'], ['\ud801']], [['a', 'b'], ['ab']], [['', 'a'], ['a', '']], [[], ['']]] },
  );
});

test('an id is 256 random bits that can stand in a URL', () => {
  const ids = Array.from({ length: 100 }, randomId);
  assert.equal(new Set(ids).size, 100);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{43}$/);
});
