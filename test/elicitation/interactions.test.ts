import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createInteractions, type Interactions, type InteractionSettings, type Subject, type Ticket } from '../../src/elicitation/interactions.ts';
import { UnavailableError } from '../../src/errors.ts';
import { createMemoryStore } from '../../src/stores/memory.ts';
import type { Store } from '../../src/stores/store.ts';
import { createKeyRing } from '../../src/vault/key-ring.ts';

const minute = 60_000;
const ring = createKeyRing([Buffer.alloc(32, 1)]);
let time: number;
let store: Store;
let interactions: Interactions;

const open = (settings: Partial<InteractionSettings> = {}) => createInteractions(store, ring, 'default', { expiresAfterMs: 30 * minute, openInteractions: 20, ...settings }, () => time);

beforeEach(() => {
  time = Date.UTC(2026, 10, 30);
  store = createMemoryStore(() => time);
  interactions = open();
});

type Attempt = Omit<Ticket, 'interactionId' | 'elicitationId'>;

function attempt(who: Partial<Subject> = {}, more: Partial<Omit<Attempt, 'subject'>> = {}): Attempt {
  return { subject: { issuer: 'https://id.example.com', subject: 'ada', place: 'main', credential: 'github', ...who }, upstream: 'main', ...more };
}

const rowsOf = async (kind: string): Promise<number> => (await store.list(`${kind}/`)).length;
const kindOf = async (ticketId: string): Promise<string | undefined> => (await interactions.open(ticketId))?.kind;

async function ticketOf(ticketId: string): Promise<Ticket> {
  return (await interactions.open(ticketId))?.ticket ?? assert.fail('no such ticket');
}

test('every attempt gets a fresh link and a fresh elicitation id, and neither says anything about the other (C4)', async () => {
  const all = [await interactions.begin(attempt()), await interactions.begin(attempt()), await interactions.begin(attempt({ credential: 'jira' }))];
  assert.equal(new Set(all.flatMap(({ ticketId, elicitationId }) => [ticketId, elicitationId])).size, 6);
  for (const { ticketId, elicitationId } of all) {
    assert.match(ticketId, /^[\w-]{43}$/);
    assert.match(elicitationId, /^[\w-]{43}$/);
  }
});

test('a link remembers who was asked, for what, by which client and in which session', async () => {
  const asked = attempt({}, { tool: 'get_me', clientId: 'client-1', clientName: 'Editor', sessionId: 'session-1' });
  const { ticketId, elicitationId } = await interactions.begin(asked);
  const { interactionId, ...ticket } = await ticketOf(ticketId);
  assert.deepEqual(ticket, { ...asked, elicitationId });
  assert.match(interactionId, /^[\w-]{43}$/);
});

test('twenty attempts at once, at five replicas, open one question with twenty links, and finishing one finishes all (A9)', async () => {
  const replicas = Array.from({ length: 5 }, () => open());
  const begun = await Promise.all(Array.from({ length: 20 }, (_, nth) => (replicas[nth % 5] ?? interactions).begin(attempt({}, { sessionId: `session-${nth}` }))));
  assert.equal(await rowsOf('interaction'), 1);
  assert.equal(new Set(begun.map(({ ticketId }) => ticketId)).size, 20);
  for (const { ticketId } of begun) assert.equal(await kindOf(ticketId), 'open');

  const told = await interactions.finish(await ticketOf(begun[7]?.ticketId ?? ''));
  assert.deepEqual(
    told?.map(({ sessionId, elicitationId }) => [sessionId, elicitationId]).sort(),
    begun.map(({ elicitationId }, nth) => [`session-${nth}`, elicitationId]).sort(),
  );
  for (const { ticketId } of begun) assert.equal(await kindOf(ticketId), 'done');
});

test('each person, upstream and credential has a question of its own, and "shared" is no upstream', async () => {
  const different = [{}, { subject: 'eve' }, { place: 'other' }, { credential: 'jira' }, { place: undefined }, { place: 'shared' }];
  const begun = await Promise.all(different.map((one) => interactions.begin(attempt(one))));
  assert.equal(await rowsOf('interaction'), different.length);
  await interactions.finish(await ticketOf(begun[0]?.ticketId ?? ''));
  assert.deepEqual(await Promise.all(begun.map(({ ticketId }) => kindOf(ticketId))), ['done', 'open', 'open', 'open', 'open', 'open']);
});

test('a session is told only of the links that it was given, and one without a session is told to nobody', async () => {
  const first = await interactions.begin(attempt({}, { sessionId: 'session-1' }));
  await interactions.begin(attempt());
  const told = await interactions.finish(await ticketOf(first.ticketId));
  assert.deepEqual(told?.map(({ sessionId }) => sessionId), ['session-1']);
});

test('attempts of one process that come together write the question once, and their failure is not that of those after them', async () => {
  const { get } = store;
  const looks: string[] = [];
  store.get = async (key) => {
    looks.push(key);
    if (looks.length === 1) throw new UnavailableError('the first look fails');
    return get(key);
  };
  const twenty = () => Promise.allSettled(Array.from({ length: 20 }, () => interactions.begin(attempt())));
  assert.deepEqual(new Set((await twenty()).map(({ status }) => status)), new Set(['rejected']));
  assert.deepEqual(new Set((await twenty()).map(({ status }) => status)), new Set(['fulfilled']));
  assert.equal(looks.length, 2);
  assert.equal(await rowsOf('ticket'), 20);
});

test('of two hundred attempts at once the newest 32 have a link that lives, and no other leaves a record (A9)', async () => {
  const begun = await Promise.all(Array.from({ length: 200 }, () => interactions.begin(attempt())));
  assert.deepEqual([await rowsOf('interaction'), await rowsOf('ticket')], [1, 32]);
  const kinds = await Promise.all(begun.map(({ ticketId }) => kindOf(ticketId)));
  assert.deepEqual(kinds, [...Array<undefined>(168).fill(undefined), ...Array<string>(32).fill('open')]);
});

test('a question ends once: of two at once one is first, and a second finish tells nobody', async () => {
  const { ticketId } = await interactions.begin(attempt({}, { sessionId: 'session-1' }));
  const ticket = await ticketOf(ticketId);
  const outcomes = await Promise.all([interactions.finish(ticket), interactions.finish(ticket), interactions.finish(ticket)]);
  assert.equal(outcomes.filter((told) => told !== undefined).length, 1);
  assert.equal(await interactions.finish(ticket), undefined);
});

test('a visit is noted once, and never after the end', async () => {
  const { ticketId } = await interactions.begin(attempt());
  const ticket = await ticketOf(ticketId);
  const isFirst = await Promise.all([interactions.visit(ticket), interactions.visit(ticket)]);
  assert.deepEqual([...isFirst].sort(), [false, true]);
  assert.deepEqual(await interactions.open(ticketId), { kind: 'open', ticket, isVisited: true });
  await interactions.finish(ticket);
  assert.equal(await interactions.visit(ticket), false);
  assert.equal(await kindOf(ticketId), 'done');
});

test('the newest 32 links live; older ones lead to an expired question and leave no record (A9)', async () => {
  const begun: string[] = [];
  for (let nth = 0; nth < 40; nth += 1) begun.push((await interactions.begin(attempt())).ticketId);
  const kinds = await Promise.all(begun.map(kindOf));
  assert.deepEqual(kinds, [...Array<undefined>(8).fill(undefined), ...Array<string>(32).fill('open')]);
  assert.equal(await rowsOf('ticket'), 32);
});

test('five hundred attempts of one person leave one question and 32 links (A9)', async () => {
  for (let nth = 0; nth < 500; nth += 1) await interactions.begin(attempt());
  assert.deepEqual([await rowsOf('interaction'), await rowsOf('ticket')], [1, 32]);
  const [question] = await store.list('interaction/');
  assert.ok((question?.value.length ?? Infinity) < 10_000);
});

test('beyond openInteractions the oldest open question gives way, with its links, and nobody else’s does (A9)', async () => {
  interactions = open({ openInteractions: 3 });
  const begun: string[] = [];
  const eves = await interactions.begin(attempt({ subject: 'eve' }));
  for (const credential of ['a', 'b', 'c', 'd', 'e']) {
    time += 1;
    begun.push((await interactions.begin(attempt({ credential }))).ticketId);
  }
  assert.deepEqual(await Promise.all(begun.map(kindOf)), [undefined, undefined, 'open', 'open', 'open']);
  assert.equal(await kindOf(eves.ticketId), 'open');
});

test('a finished question takes no room from the open ones', async () => {
  interactions = open({ openInteractions: 2 });
  const done = await interactions.begin(attempt({ credential: 'a' }));
  await interactions.finish(await ticketOf(done.ticketId));
  const begun = [await interactions.begin(attempt({ credential: 'b' })), await interactions.begin(attempt({ credential: 'c' }))];
  assert.deepEqual(await Promise.all(begun.map(({ ticketId }) => kindOf(ticketId))), ['open', 'open']);
  assert.equal(await kindOf(done.ticketId), 'done');
});

test('attempts at once on one new question cost one of the others, not one each (A9)', async () => {
  interactions = open({ openInteractions: 3 });
  for (const credential of ['a', 'b', 'c']) {
    time += 1;
    await interactions.begin(attempt({ credential }));
  }
  time += 1;
  // Replicas do not run in step: each look takes another while.
  const { list, putIfAbsent } = store;
  const stagger = async (): Promise<void> => { for (let turns = (staggered += 1) * 20; turns > 0; turns -= 1) await Promise.resolve(); };
  let staggered = 0;
  store.list = async (prefix) => stagger().then(() => list(prefix));
  store.putIfAbsent = async (...args) => stagger().then(() => putIfAbsent(...args));
  await Promise.all(Array.from({ length: 5 }, () => open({ openInteractions: 3 }).begin(attempt({ credential: 'd' }))));
  assert.equal(await rowsOf('interaction'), 3);
});

test('a link is open until its last millisecond, then expired for as long again, then unknown', async () => {
  const { ticketId } = await interactions.begin(attempt());
  const ticket = await ticketOf(ticketId);
  time += 30 * minute - 1;
  assert.equal(await kindOf(ticketId), 'open');
  time += 1;
  assert.equal(await kindOf(ticketId), 'expired');
  assert.equal(await interactions.visit(ticket), false);
  assert.equal(await interactions.finish(ticket), undefined);
  time += 30 * minute - 1;
  assert.equal(await kindOf(ticketId), 'expired');
  time += 1;
  assert.equal(await kindOf(ticketId), undefined);
  assert.equal(await rowsOf(''), 0);
});

test('a fresh link renews the question, so that it works for its whole time, and so do those before it', async () => {
  const first = await interactions.begin(attempt());
  time += 29 * minute;
  const second = await interactions.begin(attempt());
  time += 29 * minute;
  assert.deepEqual([await kindOf(first.ticketId), await kindOf(second.ticketId)], ['open', 'open']);
  time += minute;
  assert.equal(await kindOf(second.ticketId), 'expired');
});

test('a question that is asked again after its end is a new one: old links do not open it', async () => {
  const old = await interactions.begin(attempt({}, { sessionId: 'session-1' }));
  const oldTicket = await ticketOf(old.ticketId);
  await interactions.finish(oldTicket);
  const fresh = await interactions.begin(attempt({}, { sessionId: 'session-2' }));
  assert.deepEqual([await kindOf(old.ticketId), await kindOf(fresh.ticketId)], ['expired', 'open']);
  assert.equal(await interactions.finish(oldTicket), undefined);
  assert.deepEqual((await interactions.finish(await ticketOf(fresh.ticketId)))?.map(({ sessionId }) => sessionId), ['session-2']);
});

test('a link that was never given is unknown, and so is an elicitation id or an interaction id in its place (A5)', async () => {
  const { ticketId, elicitationId } = await interactions.begin(attempt());
  const { interactionId } = await ticketOf(ticketId);
  for (const guess of ['', 'x', elicitationId, interactionId, ticketId.slice(0, -1), `${ticketId}x`, ticketId.toUpperCase()]) assert.equal(await interactions.open(guess), undefined);
});

test('with the store down nothing is begun, opened, visited or finished, and nothing is said to be missing', async () => {
  const { ticketId } = await interactions.begin(attempt());
  const ticket = await ticketOf(ticketId);
  await store.close();
  for (const move of [() => interactions.begin(attempt()), () => interactions.open(ticketId), () => interactions.visit(ticket), () => interactions.finish(ticket)]) {
    await assert.rejects(move, UnavailableError);
  }
});
