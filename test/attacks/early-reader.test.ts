/** A process that looks for a session's record before the one that opened it has written it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBindings, type Binding } from '../../src/gateway/bindings.ts';
import { sessionLifeMs } from '../../src/gateway/sessions.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';

test('a process that came too early for the record of a session looks again, so that no call goes on in a session of secrets that are gone', async () => {
  const now = () => 1_000_000;
  const store = createMemoryStore(now);
  const open = () => createBindings(store, createKeyRing([Buffer.alloc(32, 1)]), 'default', now);
  const [one, other] = [open(), open()];
  const session = { id: 'session', token: 'token', expiresAt: now() + sessionLifeMs, requestedVersion: '2025-11-25', negotiatedVersion: '2025-11-25', takesUrls: false, upstreamSession: 'upstream' };
  const binding: Binding = { params: {}, secrets: 'key 1', upstreamSession: 'upstream', negotiatedVersion: '2025-11-25' };
  assert.equal(await other.read(session), undefined);
  await one.begin(session, binding);
  assert.equal(other.known(session), undefined);
  assert.deepEqual(await other.read(session), binding);
  // Of a session that is older nothing was ever kept.
  const old = { ...session, id: 'old', expiresAt: now() + sessionLifeMs - 60_000 };
  assert.equal(await other.read(old), undefined);
  assert.equal(other.known(old), null);
});
