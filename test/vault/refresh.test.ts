/** Renewing under a lock, with two processes at one store: once, and never without the lock (B9, O3). */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { err, ok, UnavailableError } from '../../src/errors.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';
import { createRefresher, type Renew, type Renewal } from '../../src/vault/refresh.ts';
import { createVault, type Secret, type SecretSlot, type Vault } from '../../src/vault/secrets.ts';

const ring = createKeyRing([Buffer.alloc(32, 1)]);
const slot: SecretSlot = { issuer: 'https://id.example.com', subject: 'ada', upstream: 'main', credential: 'box' };
let time: number;
let store: Store;
let vault: Vault;

function secret(token: string): Secret {
  return {
    fields: { access_token: token, refresh_token: `refresh-of-${token}` },
    shape: 's',
    destination: 'd',
    storedAt: 1,
    lastUsedAt: 1,
    clients: [],
    grant: { issuer: 'https://third.example.com', scopes: [], issuedAt: 1, renewAt: 2, endsAt: 3 },
  };
}

beforeEach(async () => {
  time = Date.UTC(2026, 10, 30);
  store = createMemoryStore(() => time);
  vault = openVault();
  await vault.keep(slot, secret('old'));
});

function openVault(): Vault {
  return createVault(store, ring, 'default', { cacheForMs: 30_000, deleteUnusedAfterMs: 1e10 }, () => time);
}

const open = (own: Vault = vault, at: Store = store) => createRefresher(at, own, () => time);
const renewal = (renew: Renew, more: Partial<Renewal> = {}): Renewal => ({ slot, seen: secret('old'), renew, ended: () => undefined, ...more });
const tokenOf = async () => (await vault.inspect(slot))?.fields['access_token'];

test('two processes with a hundred calls each ask the third party once', async () => {
  let asked = 0;
  const renew: Renew = async (stored) => {
    asked += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return ok({ fields: { ...stored.fields, access_token: 'new' }, ...(stored.grant === undefined ? {} : { grant: stored.grant }) });
  };
  const processes = [open(), open(openVault())];
  const answers = await Promise.all(processes.flatMap((one) => Array.from({ length: 100 }, () => one.refresh(renewal(renew)))));
  assert.equal(asked, 1);
  assert.deepEqual([...new Set(answers.map((answer) => answer.ok && answer.value.fields['access_token']))], ['new']);
  assert.equal(await tokenOf(), 'new');
});

test('what was renewed meanwhile is taken as it is, without asking', async () => {
  await vault.keep(slot, secret('newer'));
  const answer = await open().refresh(renewal(() => assert.fail('asked')));
  assert.equal(answer.ok && answer.value.fields['access_token'], 'newer');
});

test('while another process holds the lock nobody asks; once that is dead, its lock ends and the next one asks', async () => {
  const waited = Promise.withResolvers<void>();
  const watched: Store = {
    ...store,
    async lock(key, ttlMs) {
      const unlock = await store.lock(key, ttlMs);
      if (unlock === undefined) waited.resolve();
      return unlock;
    },
  };
  const keys: string[] = [];
  const dead: Store = { ...store, lock: async (key, ttlMs) => { keys.push(key); return store.lock(key, ttlMs).then((unlock) => (unlock === undefined ? undefined : async () => undefined)); } };
  await open(vault, dead).refresh(renewal(async () => err('failed')));
  assert.equal(keys[0]?.includes('ada'), false, 'a lock names nobody');
  let asked = 0;
  const answer = open(vault, watched).refresh(renewal(async (stored) => {
    asked += 1;
    return ok({ fields: { ...stored.fields, access_token: 'new' } });
  }));
  await waited.promise;
  assert.equal(asked, 0);
  time += 20_000;
  assert.equal((await answer).ok, true);
  assert.equal(asked, 1);
});

test('only "over" ends a grant; any failure keeps it and is not repeated at once', async () => {
  let asked = 0;
  const failing = renewal(async () => {
    asked += 1;
    return err('failed');
  });
  const refresher = open();
  assert.deepEqual(await refresher.refresh(failing), err('unavailable'));
  assert.deepEqual(await refresher.refresh(failing), err('unavailable'));
  assert.equal(asked, 1);
  assert.equal((await vault.inspect(slot))?.isRejected, undefined);
  time += 3_000;
  let isEnded = false;
  assert.deepEqual(await refresher.refresh(renewal(async () => err('over'), { ended: () => { isEnded = true; } })), err('ended'));
  assert.equal((await vault.inspect(slot))?.isRejected, true);
  assert.equal(isEnded, true);
});

test('"over" said of an old token does not end what was connected meanwhile', async () => {
  const answer = await open().refresh(renewal(async () => {
    await vault.keep(slot, { ...secret('connected anew'), storedAt: 2 });
    return err('over');
  }, { ended: () => { assert.fail('ended'); } }));
  assert.deepEqual(answer, err('ended'));
  assert.equal((await vault.inspect(slot))?.isRejected, undefined);
});

test('what is disconnected while it is renewed stays disconnected', async () => {
  const answer = await open().refresh(renewal(async (stored) => {
    await vault.remove(slot);
    return ok({ fields: { ...stored.fields, access_token: 'new' } });
  }));
  assert.deepEqual(answer, err('ended'));
  assert.equal(await vault.inspect(slot), undefined);
});

test('a store that fails for a moment when the new token is written loses nothing', async () => {
  let failures = 2;
  const shaky: Store = {
    ...store,
    async compareAndSet(...move) {
      failures -= 1;
      if (failures >= 0) throw new UnavailableError('the disk is busy');
      return store.compareAndSet(...move);
    },
  };
  const own = createVault(shaky, ring, 'default', { cacheForMs: 0, deleteUnusedAfterMs: 1e10 }, () => time);
  assert.equal((await open(own, shaky).refresh(renewal(async (stored) => ok({ fields: { ...stored.fields, access_token: 'new' } })))).ok, true);
  assert.equal(await tokenOf(), 'new');
});

test('a store that cannot lock renews nothing', async () => {
  const broken: Store = { ...store, lock: () => Promise.reject(new UnavailableError('the store is down')) };
  await assert.rejects(open(vault, broken).refresh(renewal(() => assert.fail('asked'))), UnavailableError);
});

test('whoever took long to find the third party does not use the refresh token once the lock may end before the answer (O3)', async () => {
  const tokens: string[] = [];
  const asking = (name: string, takesMs: number): Renew => async (stored, mayAsk) => {
    time += takesMs;
    if (!mayAsk()) return err('failed');
    tokens.push(`${name}: ${stored.fields['refresh_token'] ?? ''}`);
    return ok({ fields: { ...stored.fields, access_token: 'new' }, ...(stored.grant === undefined ? {} : { grant: stored.grant }) });
  };
  let fast: ReturnType<ReturnType<typeof open>['refresh']> | undefined;
  const slow = await open().refresh(renewal(async (stored, mayAsk) => {
    time += 20_001;
    fast = open(openVault()).refresh(renewal(asking('fast', 0)));
    await fast;
    return asking('slow', 0)(stored, mayAsk);
  }));
  assert.deepEqual(slow, err('unavailable'));
  assert.equal((await fast)?.ok, true);
  assert.deepEqual(tokens, ['fast: refresh-of-old']);
  await vault.keep(slot, secret('old'));
  assert.deepEqual(await open().refresh(renewal(asking('late', 8_001))), err('unavailable'));
  assert.deepEqual(tokens, ['fast: refresh-of-old']);
});
