/**
 * Somebody who can write into the database, but has no key: moves rows between people, swaps them, brings
 * rows of another installation, forges new ones. None opens, and what does not open is never "not there" (A20).
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { createInteractions, type Ticket } from '../../src/elicitation/interactions.ts';
import { createNotices } from '../../src/elicitation/notices.ts';
import { UnavailableError } from '../../src/errors.ts';
import { createSessions } from '../../src/gateway/sessions.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing, type KeyRing } from '../../src/vault/key-ring.ts';
import { createRecords } from '../../src/vault/records.ts';
import { createVault, type SecretSlot } from '../../src/vault/secrets.ts';

const time = Date.UTC(2026, 10, 30);
const now = (): number => time;
const ring = createKeyRing([Buffer.alloc(32, 1)]);
const shape = 'shape';
const destination = 'https://api.example.com';
let store: Store;

beforeEach(() => {
  store = createMemoryStore(now);
});

/** Read from the disk on every look: memory has nothing that was changed behind its back. */
const vaultWith = (keys: KeyRing, namespace = 'default') => createVault(store, keys, namespace, { cacheForMs: 0, deleteUnusedAfterMs: 86_400_000 }, now);
const slotOf = (subject: string, upstream = 'main', credential = 'github'): SecretSlot => ({ issuer: 'https://id.example.com', subject, upstream, credential });
const secret = (token: string) => ({ fields: { token }, shape, destination, storedAt: time, lastUsedAt: time, clients: [] });
const attempt = (subject: string, sessionId?: string): Omit<Ticket, 'interactionId' | 'elicitationId'> => ({
  subject: { issuer: 'https://id.example.com', subject, place: 'main', credential: 'github' },
  upstream: 'main',
  ...(sessionId === undefined ? {} : { sessionId }),
});
const openInteractions = (keys: KeyRing = ring) => createInteractions(store, keys, 'default', { expiresAfterMs: 1_800_000, openInteractions: 20 }, now);

/** Keys of all rows of a kind. */
const keysOf = async (kind: string): Promise<string[]> => (await store.list(`${kind}/`)).map(({ key }) => key);
const row = async (key = ''): Promise<Uint8Array> => (await store.get(key)) ?? assert.fail(`no row ${key}`);
const failsClosed = (move: Promise<unknown>): Promise<void> => assert.rejects(move, UnavailableError);

/** Puts each of two rows in the place of the other. */
async function swap(one: string | undefined, other: string | undefined): Promise<void> {
  const [first, second] = [await row(one), await row(other)];
  await store.put(one ?? '', second);
  await store.put(other ?? '', first);
}

test('a secret that is moved to another person opens for neither (A20)', async () => {
  const vault = vaultWith(ring);
  await vault.keep(slotOf('ada'), secret('ada’s'));
  const [ada] = await keysOf('secret');
  await vault.keep(slotOf('eve'), secret('eve’s'));
  const eve = (await keysOf('secret')).find((key) => key !== ada);
  await swap(ada, eve);
  for (const subject of ['ada', 'eve']) await failsClosed(vault.find(slotOf(subject), shape, destination));
});

test('a secret that is moved to another upstream, to another credential or to "shared" of the same person does not open (A20)', async () => {
  const vault = vaultWith(ring);
  const { upstream: _upstream, ...shared } = slotOf('ada');
  await vault.keep(slotOf('ada'), secret('hers'));
  const [own = ''] = await keysOf('secret');
  for (const other of [slotOf('ada', 'evil'), slotOf('ada', 'main', 'jira'), shared]) {
    const before = await keysOf('secret');
    await vault.keep(other, secret('other'));
    const key = (await keysOf('secret')).find((one) => !before.includes(one)) ?? '';
    await store.put(key, await row(own));
    await failsClosed(vault.find(other, shape, destination));
  }
});

test('a row that another key or another installation sealed does not open (A20)', async () => {
  await vaultWith(ring).keep(slotOf('ada'), secret('hers'));
  await failsClosed(vaultWith(createKeyRing([Buffer.alloc(32, 2)])).find(slotOf('ada'), shape, destination));
  await failsClosed(vaultWith(ring, 'another').find(slotOf('ada'), shape, destination));
});

test('rows with changed, cut, swapped or invented bytes do not open (A20)', async () => {
  const vault = vaultWith(ring);
  await vault.keep(slotOf('ada'), secret('hers'));
  const [key = ''] = await keysOf('secret');
  const sealed = await row(key);
  const changed = Uint8Array.from(sealed, (byte, at) => (at === 40 ? byte ^ 1 : byte));
  const reversed = Uint8Array.from(sealed).reverse();
  for (const forged of [changed, sealed.subarray(0, -1), sealed.subarray(1), new Uint8Array(), reversed, randomBytes(sealed.length), Buffer.from(JSON.stringify(secret('eve’s')))]) {
    await store.put(key, forged);
    await failsClosed(vault.find(slotOf('ada'), shape, destination));
  }
});

test('a row of one kind is none of another kind, although the owner and the name are the same (A20)', async () => {
  const id = { owner: ['ada'], item: ['github'] };
  const [one, other] = ['interaction', 'ticket'].map((kind) => createRecords<string>(store, ring, 'default', kind));
  await one?.put(id, 'x');
  await other?.put(id, 'y');
  await swap((await keysOf('interaction'))[0], (await keysOf('ticket'))[0]);
  await failsClosed(Promise.resolve(one?.get(id)));
  await failsClosed(Promise.resolve(other?.take(id)));
});

test('a link that is pointed at another person’s question, and a question that is given to another, do not open (A20)', async () => {
  const interactions = openInteractions();
  const { ticketId: adas } = await interactions.begin(attempt('ada'));
  const [adasTicket] = await keysOf('ticket');
  const [adasQuestion] = await keysOf('interaction');
  const { ticketId: eves } = await interactions.begin(attempt('eve'));
  const evesTicket = (await keysOf('ticket')).find((key) => key !== adasTicket);
  const evesQuestion = (await keysOf('interaction')).find((key) => key !== adasQuestion);

  const opened = await interactions.open(eves);
  await swap(adasTicket, evesTicket);
  for (const ticket of [adas, eves]) await failsClosed(interactions.open(ticket));
  await swap(adasTicket, evesTicket);

  await swap(adasQuestion, evesQuestion);
  for (const ticket of [adas, eves]) await failsClosed(interactions.open(ticket));
  await failsClosed(interactions.begin(attempt('ada')));
  assert.ok(opened);
  await failsClosed(interactions.visit(opened.ticket));
  await failsClosed(interactions.finish(opened.ticket));
});

test('a question or a link that was written by hand does not open (A20)', async () => {
  const interactions = openInteractions();
  const { ticketId } = await interactions.begin(attempt('ada'));
  const [ticket = ''] = await keysOf('ticket');
  const [question = ''] = await keysOf('interaction');
  const forged = createKeyRing([Buffer.alloc(32, 9)]);
  await store.put(question, forged.seal('record', ['default', question], Buffer.from('{"id":"x","state":"done","tickets":[]}')));
  await failsClosed(interactions.open(ticketId));
  await store.put(ticket, Buffer.from('{}'));
  await failsClosed(interactions.open(ticketId));
});

test('a notice that is moved to another session, or forged, is delivered to nobody, and the failure is told (A20)', async () => {
  const notices = createNotices(store, ring, 'default', 60_000);
  await notices.leave('session of ada', 'elicitation-1');
  const [adas = ''] = await keysOf('notice');
  await notices.leave('session of eve', 'elicitation-2');
  const eves = (await keysOf('notice')).find((key) => key !== adas);
  await swap(adas, eves);
  await store.put(`${adas}x`, Buffer.from('{"elicitationId":"elicitation-3"}'));
  for (const session of ['session of ada', 'session of eve']) {
    const delivered: string[] = [];
    const failed = new Promise<unknown>((tell) => {
      notices.attach(session, (json) => delivered.push(json) > 0, tell);
    });
    assert.ok((await failed) instanceof UnavailableError);
    assert.deepEqual(delivered, []);
  }
});

test('the end of a session that is forged or moved does not open: whether the session lives is unknown, not "yes" (A20)', async () => {
  const person = { issuer: 'https://id.example.com', subject: 'ada', name: 'Ada' };
  const facts = { requestedVersion: '2025-11-25', negotiatedVersion: '2025-11-25', takesUrls: true };
  const issued = createSessions(store, ring, 'default', now);
  const [one, other] = [issued.issue(person, 'main', facts), issued.issue(person, 'main', facts)];
  // Another replica: it has nothing in memory.
  const sessions = createSessions(store, ring, 'default', now);
  const [first, second] = [one, other].map((token) => sessions.read(token, person, 'main'));
  assert.ok(first !== undefined && second !== undefined);
  await issued.end(first);
  const [ended = ''] = await keysOf('ended-session');
  await issued.end(second);
  await swap(ended, (await keysOf('ended-session')).find((key) => key !== ended));
  for (const session of [first, second]) await failsClosed(Promise.resolve(sessions.isEnded(session)));
});
