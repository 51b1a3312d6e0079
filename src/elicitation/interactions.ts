/**
 * Interactions and tickets: the open question "this person should provide this credential", and the
 * links to it. One interaction is open for each person, upstream (or all that share) and credential;
 * every attempt mints a fresh ticket to it, and finishing it once finishes all. Every move is one
 * compare-and-set: of two at once one wins and the other looks again.
 */
import type { Clock, Store } from '../stores/store.ts';
import { randomId, type KeyRing } from '../vault/key-ring.ts';
import { createRecords, type Held, type RecordId, type Records } from '../vault/records.ts';
import { place } from '../vault/secrets.ts';

/** Who is asked, for what. */
export interface Subject {
  readonly issuer: string;
  readonly subject: string;
  /** Absent for a credential that all upstreams share. */
  readonly place: string | undefined;
  readonly credential: string;
}

/** One link: which attempt got it, through which client. It carries nothing and authenticates nobody. */
export interface Ticket {
  readonly subject: Subject;
  readonly interactionId: string;
  readonly elicitationId: string;
  /** The upstream whose tool was called. */
  readonly upstream: string;
  readonly tool?: string;
  readonly clientId?: string;
  /** What the client calls itself. */
  readonly clientName?: string;
  /** The session that is told of the end. */
  readonly sessionId?: string;
}

interface TicketRef {
  readonly ticketId: string;
  readonly elicitationId: string;
  readonly sessionId?: string;
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
  /** Opens the question or joins the one that is open. @returns the new ticket's id and elicitation id */
  begin(attempt: Omit<Ticket, 'interactionId' | 'elicitationId'>): Promise<{ readonly ticketId: string; readonly elicitationId: string }>;
  /** @returns undefined for a ticket that does not exist */
  open(ticketId: string): Promise<Opened | undefined>;
  /** Notes that the owner saw the page; says whether she is the first to. */
  visit(ticket: Ticket): Promise<boolean>;
  /** Ends the question. @returns the sessions to tell, or undefined when it was not open any more */
  finish(ticket: Ticket): Promise<readonly Required<TicketRef>[] | undefined>;
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
  const remainingMs = (interaction: Interaction): number => Math.max(1, interaction.expiresAt - now());

  async function join(attempt: Omit<Ticket, 'interactionId' | 'elicitationId'>, ref: TicketRef): Promise<Interaction> {
    const id = interactionId(attempt.subject);
    for (;;) {
      const held = await interactions.get(id);
      const present = held !== undefined && isOpen(held.value) ? held.value : undefined;
      if (present === undefined) await makeRoom(attempt.subject);
      const all = [...(present?.tickets ?? []), ref];
      const next: Interaction = {
        ...(present ?? { id: randomId(), state: 'open', createdAt: now() }),
        // A fresh link always works for its whole time.
        expiresAt: now() + settings.expiresAfterMs,
        tickets: all.slice(-newestTickets),
      };
      const isWritten = held === undefined ? await interactions.create(id, next, settings.expiresAfterMs) : await interactions.replace(held, next, settings.expiresAfterMs);
      if (!isWritten) continue;
      await Promise.all(all.slice(0, -newestTickets).map((dropped) => tickets.delete(ticketRecordId(dropped.ticketId))));
      return next;
    }
  }

  async function makeRoom(subject: Subject): Promise<void> {
    const all = await interactions.listOf([subject.issuer, subject.subject]);
    const open = all.filter((held) => isOpen(held.value)).sort((a, b) => a.value.createdAt - b.value.createdAt);
    await Promise.all(open.slice(0, Math.max(0, open.length - settings.openInteractions + 1)).map((held) => drop(held)));
  }
  async function drop(held: Held<Interaction>): Promise<void> {
    const gone = await interactions.takeHeld(held);
    await Promise.all((gone?.tickets ?? []).map((ref) => tickets.delete(ticketRecordId(ref.ticketId))));
  }

  return {
    async begin(attempt) {
      const ref: TicketRef = { ticketId: randomId(), elicitationId: randomId(), ...(attempt.sessionId === undefined ? {} : { sessionId: attempt.sessionId }) };
      const interaction = await join(attempt, ref);
      // Kept for a while after the question has expired, so that its owner is led on and not just turned away.
      await tickets.put(ticketRecordId(ref.ticketId), { ...attempt, interactionId: interaction.id, elicitationId: ref.elicitationId }, settings.expiresAfterMs * 2);
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
    async finish(ticket) {
      const done = await move(interactions, ticket, 'done', isOpen, remainingMs);
      return done?.tickets.flatMap((ref) => (ref.sessionId === undefined ? [] : [{ ...ref, sessionId: ref.sessionId }]));
    },
  };
}

/** One atomic step of a ticket's interaction, if it is still in a state that allows it. */
async function move(
  interactions: Records<Interaction>,
  ticket: Ticket,
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
