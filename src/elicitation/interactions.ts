/**
 * Interactions and tickets: the open question "this person should provide this credential", and the
 * links to it. One interaction is open for each person, upstream (or all that share) and credential;
 * every attempt mints a fresh ticket to it, and finishing it once finishes all. Every move is one
 * compare-and-set: of two at once one wins and the other looks again; attempts of one process are written
 * together, since each by itself would make all the others look again.
 */
import { createHash } from 'node:crypto';
import type { Clock, Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords, type Held, type RecordId, type Records } from '../vault/records.ts';
import { place } from '../vault/secrets.ts';
import { createBatches, type Batch } from './batches.ts';

/** Who is asked, for what. */
export interface Subject {
  readonly issuer: string;
  readonly subject: string;
  /** Absent for a credential that all upstreams share. */
  readonly place: string | undefined;
  /** Its name; where any one of several would do, their sorted names joined by `|`. */
  readonly credential: string;
}

/** One link: which attempt got it, through which client. It carries nothing and authenticates nobody. */
export interface Ticket {
  readonly subject: Subject;
  readonly interactionId: string;
  readonly elicitationId: string;
  /** The upstream whose tool was called. */
  readonly upstream: string;
  /** The tool, resource or prompt. */
  readonly tool?: string;
  readonly clientId?: string;
  /** What the client calls itself. */
  readonly clientName?: string;
  /** The session that is told of the end. */
  readonly sessionId?: string;
  /** Scopes that the call needs of a connected account. */
  readonly scopes?: readonly string[];
  /** Her answer on the page was "not now". */
  readonly isDeclined?: true;
}

type Attempt = Omit<Ticket, 'interactionId' | 'elicitationId'>;

interface TicketRef {
  readonly ticketId: string;
  readonly elicitationId: string;
  readonly sessionId?: string;
}

/** One attempt on its way into its question. */
interface Joining {
  readonly attempt: Attempt;
  readonly ref: TicketRef;
}

export interface Interaction {
  readonly id: string;
  readonly state: 'open' | 'visited' | 'done';
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Newest last, at most 32. */
  readonly tickets: readonly TicketRef[];
}

/** What a link leads to. */
export type Opened =
  | { readonly kind: 'open'; readonly ticket: Ticket; readonly isVisited: boolean }
  | { readonly kind: 'done' | 'expired'; readonly ticket: Ticket };

export interface Interactions {
  /**
   * Opens the question or joins the one that is open.
   * @param elicitationId of the ticket that this one renews: it is what its client waits for
   * @returns the new ticket's id and elicitation id
   */
  begin(attempt: Attempt, elicitationId?: string): Promise<{ readonly ticketId: string; readonly elicitationId: string }>;
  /** @returns undefined for a ticket that does not exist */
  open(ticketId: string): Promise<Opened | undefined>;
  /** Notes that the owner saw the page; says whether she is the first to. */
  visit(ticket: Ticket): Promise<boolean>;
  /** Ends the question. @returns the sessions to tell, or undefined when it was not open any more */
  finish(ticket: Ticket): Promise<readonly Required<TicketRef>[] | undefined>;
  /** Ends the question that is open for this subject, if one is. @returns as `finish` */
  settle(subject: Subject): Promise<readonly Required<TicketRef>[] | undefined>;
  /** Notes that she said "not now" behind this link; the question stays open. */
  decline(ticketId: string): Promise<void>;
  isDeclined(ticketId: string): Promise<boolean>;
  /** Calls `listener` when a question about this subject may have ended or been declined, in any process. @returns ends it */
  watch(subject: Subject, listener: () => void): () => void;
}

const newestTickets = 32;

export interface InteractionSettings {
  readonly expiresAfterMs: number;
  /** Open questions of one person; beyond it her oldest gives way. */
  readonly openInteractions: number;
}

export function createInteractions(store: Store, ring: KeyRing, namespace: string, settings: InteractionSettings, now: Clock): Interactions {
  const interactions = createRecords<Interaction>(store, ring, namespace, 'interaction');
  const tickets = createRecords<Ticket>(store, ring, namespace, 'ticket');
  const isOpen = (interaction: Interaction): boolean => interaction.state !== 'done' && interaction.expiresAt > now();
  // Kept for a while after the question has expired, so that its owner is led on and not just turned away.
  const ticketMs = settings.expiresAfterMs * 2;
  const remainingMs = (interaction: Interaction): number => Math.max(1, interaction.expiresAt - now());
  const endings = createEndings(store, namespace, tickets, ticketMs);
  const joinTogether = createBatches(join);

  /** All attempts at one question that came together: one write of the question, and no link that is not among its newest. */
  async function join(attempts: Batch<Joining>): Promise<void> {
    const { subject } = attempts[0].attempt;
    const { interaction, dropped } = await write(subject, attempts.map(({ ref }) => ref));
    const kept = new Set(interaction.tickets.map(({ ticketId }) => ticketId));
    const fresh = attempts.filter(({ ref }) => kept.has(ref.ticketId));
    await Promise.all(
      fresh.map(({ attempt, ref }) => tickets.put(ticketRecordId(ref.ticketId), { ...attempt, interactionId: interaction.id, elicitationId: ref.elicitationId }, ticketMs)),
    );
    await Promise.all(dropped.map(({ ticketId }) => tickets.delete(ticketRecordId(ticketId))));
  }
  /** @returns the question as it stands now, and the links that it had and has no more room for */
  async function write(subject: Subject, refs: readonly TicketRef[]): Promise<{ readonly interaction: Interaction; readonly dropped: readonly TicketRef[] }> {
    const id = interactionId(subject);
    for (;;) {
      const held = await interactions.get(id);
      const present = held !== undefined && isOpen(held.value) ? held.value : undefined;
      const all = withNewest(present?.tickets ?? [], refs);
      const interaction: Interaction = {
        ...(present ?? { id: randomId(), state: 'open', createdAt: now() }),
        // A fresh link always works for its whole time.
        expiresAt: now() + settings.expiresAfterMs,
        tickets: all.slice(-newestTickets),
      };
      const isWritten = held === undefined ? await interactions.create(id, interaction, settings.expiresAfterMs) : await interactions.replace(held, interaction, settings.expiresAfterMs);
      if (!isWritten) continue;
      // Of several who open it at once only the one that wrote it makes room, so one question costs one.
      if (present === undefined) {
        const others = (await interactions.listOf([subject.issuer, subject.subject])).filter((one) => isOpen(one.value) && one.value.id !== interaction.id);
        await giveWay(interactions, tickets, others, settings.openInteractions - 1);
      }
      const stored = new Set(present?.tickets);
      return { interaction, dropped: all.slice(0, -newestTickets).filter((ref) => stored.has(ref)) };
    }
  }

  async function end(ticket: Pick<Ticket, 'subject' | 'interactionId'>): Promise<readonly Required<TicketRef>[] | undefined> {
    const done = await move(interactions, ticket, 'done', isOpen, remainingMs);
    if (done !== undefined) await endings.tell(ticket.subject);
    return toTell(done);
  }

  return {
    async begin(attempt, elicitationId = randomId()) {
      const ref: TicketRef = { ticketId: randomId(), elicitationId, ...(attempt.sessionId === undefined ? {} : { sessionId: attempt.sessionId }) };
      await joinTogether(JSON.stringify(attempt.subject), { attempt, ref });
      return ref;
    },
    async open(ticketId) {
      const ticket = (await tickets.get(ticketRecordId(ticketId)))?.value;
      if (ticket === undefined) return undefined;
      const interaction = (await interactions.get(interactionId(ticket.subject)))?.value;
      const isLive = interaction?.id === ticket.interactionId && interaction.tickets.some((ref) => ref.ticketId === ticketId);
      if (!isLive) return { kind: 'expired', ticket };
      if (interaction.state === 'done') return { kind: 'done', ticket };
      return isOpen(interaction) ? { kind: 'open', ticket, isVisited: interaction.state === 'visited' } : { kind: 'expired', ticket };
    },
    async visit(ticket) {
      return (await move(interactions, ticket, 'visited', (one) => one.state === 'open' && isOpen(one), remainingMs)) !== undefined;
    },
    finish: end,
    async settle(subject) {
      const open = (await interactions.get(interactionId(subject)))?.value;
      return open === undefined ? undefined : end({ subject, interactionId: open.id });
    },
    ...endings,
  };
}

function toTell(done: Interaction | undefined): readonly Required<TicketRef>[] | undefined {
  return done?.tickets.flatMap((ref) => (ref.sessionId === undefined ? [] : [{ ...ref, sessionId: ref.sessionId }]));
}

/** A link takes the place of the one that it renews. @returns newest last */
function withNewest(before: readonly TicketRef[], refs: readonly TicketRef[]): readonly TicketRef[] {
  const byElicitation = new Map(before.map((ref) => [ref.elicitationId, ref]));
  for (const ref of refs) {
    byElicitation.delete(ref.elicitationId);
    byElicitation.set(ref.elicitationId, ref);
  }
  return [...byElicitation.values()];
}

/** The person's oldest questions give way to a new one. */
async function giveWay(interactions: Records<Interaction>, tickets: Records<Ticket>, open: readonly Held<Interaction>[], keep: number): Promise<void> {
  const oldest = open.toSorted((a, b) => a.value.createdAt - b.value.createdAt).slice(0, Math.max(0, open.length - keep));
  await Promise.all(oldest.map(async (held) => {
    const gone = await interactions.takeHeld(held);
    await Promise.all((gone?.tickets ?? []).map((ref) => tickets.delete(ticketRecordId(ref.ticketId))));
  }));
}

/** How those who wait for an answer learn of it, in every process that shares the store. */
function createEndings(store: Store, namespace: string, tickets: Records<Ticket>, keepMs: number) {
  const channel = (subject: Subject): string => `interaction/${namespace}/${createHash('sha256').update(JSON.stringify(interactionId(subject))).digest('base64url')}`;
  return {
    tell: (subject: Subject) => store.publish(channel(subject)),
    watch: (subject: Subject, listener: () => void) => store.subscribe(channel(subject), listener),
    async decline(ticketId: string): Promise<void> {
      const held = await tickets.get(ticketRecordId(ticketId));
      if (held === undefined || !(await tickets.replace(held, { ...held.value, isDeclined: true }, keepMs))) return;
      await store.publish(channel(held.value.subject));
    },
    async isDeclined(ticketId: string): Promise<boolean> {
      return (await tickets.get(ticketRecordId(ticketId)))?.value.isDeclined === true;
    },
  };
}

/** One atomic step of a ticket's interaction, if it is still in a state that allows it. */
async function move(
  interactions: Records<Interaction>,
  ticket: Pick<Ticket, 'subject' | 'interactionId'>,
  state: Interaction['state'],
  isAllowed: (interaction: Interaction) => boolean,
  ttlMs: (interaction: Interaction) => number,
): Promise<Interaction | undefined> {
  for (;;) {
    const held = await interactions.get(interactionId(ticket.subject));
    if (held === undefined || held.value.id !== ticket.interactionId || !isAllowed(held.value)) return undefined;
    const next = { ...held.value, state };
    if (await interactions.replace(held, next, ttlMs(next))) return next;
  }
}

function interactionId(subject: Subject): RecordId {
  return { owner: [subject.issuer, subject.subject], item: [...place(subject.place), subject.credential] };
}

function ticketRecordId(ticketId: string): RecordId {
  return { owner: ['ticket'], item: [ticketId] };
}
