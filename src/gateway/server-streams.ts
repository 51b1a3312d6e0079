/** The open server streams of this process: which one a new GET takes over, and all of them when the process ends. */
import type { Call } from './call.ts';
import type { HeldCredential } from './decide.ts';
import type { Session } from './sessions.ts';

export interface OpenStream {
  /** Goes on with a new client connection; the old one ends. */
  takeOver(call: Call): void;
  /** Goes on with the stream of another upstream session, opened with other secrets; the client notices nothing. */
  reopen(session: Session, held: readonly HeldCredential[]): void;
  /** Ends both halves cleanly. */
  end(): void;
}

export interface ServerStreams {
  /** The standalone stream of each session. */
  readonly bySession: Map<string, OpenStream>;
  readonly all: Set<Pick<OpenStream, 'end'>>;
  /** No stream is opened any more. */
  readonly isClosing: boolean;
  /** Ends every stream, and lets none open again. */
  endAll(): void;
}

export function createServerStreams(): ServerStreams {
  const all = new Set<Pick<OpenStream, 'end'>>();
  let isClosing = false;
  return {
    bySession: new Map(),
    all,
    get isClosing() {
      return isClosing;
    },
    endAll() {
      isClosing = true;
      for (const stream of [...all]) stream.end();
    },
  };
}
