/** What the steps of the gateway work with: the stations beside it, as narrow as it needs them. */
import type { FastifyRequest } from 'fastify';
import type { Ask } from '../elicitation/ask.ts';
import type { Notices } from '../elicitation/notices.ts';
import type { Interactions } from '../elicitation/interactions.ts';
import type { Replies } from '../elicitation/replies.ts';
import type { AddressGuard } from '../identity/addressed.ts';
import type { IdentifyCaller } from '../identity/caller.ts';
import type { Principal } from '../identity/principal.ts';
import type { Audit } from '../operate/audit.ts';
import type { Log } from '../operate/log.ts';
import type { Clock } from '../stores/store.ts';
import type { Vault } from '../vault/secrets.ts';
import type { Bindings } from './bindings.ts';
import type { HeldCalls } from './held-calls.ts';
import type { Rounds } from './round.ts';
import type { UpstreamEras } from './upstream-eras.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { InFlight } from './in-flight.ts';
import type { LeftStreams } from './left-streams.ts';
import type { Scrubbers } from './scrubbers.ts';
import type { Renewals } from './renewals.ts';
import type { ServerStreams } from './server-streams.ts';
import type { Sessions } from './sessions.ts';
import type { Tasks } from './tasks.ts';
import type { UnheardCalls } from './unheard-calls.ts';

export interface ClientOverride {
  /** How the client's own name begins. */
  readonly name: string;
  readonly treatAs: 'url' | 'text';
}

export interface Gateway {
  readonly addressed: AddressGuard;
  readonly identify: IdentifyCaller;
  /** Counts one call. @returns seconds to wait when the person has made too many */
  readonly countCall: ((request: FastifyRequest, principal: Principal) => Promise<number | undefined>) | undefined;
  readonly sessions: Sessions;
  readonly tasks: Tasks;
  readonly bindings: Bindings;
  readonly vault: Vault;
  readonly scrubbers: Scrubbers;
  readonly ask: Ask;
  readonly renewals: Renewals;
  readonly notices: Notices;
  readonly streams: ServerStreams;
  readonly unheard: UnheardCalls;
  readonly heartbeat: Heartbeat;
  readonly inFlight: InFlight;
  readonly leftStreams: LeftStreams;
  readonly audit: Audit;
  readonly log: Log;
  readonly now: Clock;
  readonly fallback: 'text' | 'refuse';
  readonly delivery: 'error' | 'hold';
  readonly heldCalls: HeldCalls;
  readonly interactions: Interactions;
  readonly replies: Replies;
  readonly rounds: Rounds;
  readonly eras: UpstreamEras;
  readonly clients: readonly ClientOverride[];
}
