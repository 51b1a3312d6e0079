/**
 * The other end of a JSON-RPC conversation that is no Streamable HTTP: a process, or an event stream with
 * an address to post to. Whole messages go in and come out, as text on one line.
 */
import type { Reason } from '../errors.ts';

export interface PeerEvents {
  /** One line of JSON text, or of noise. */
  message(text: string): void;
  /** Called once; nothing comes afterwards. */
  ended(error: UpstreamFailure): void;
}

export interface Peer {
  /** @param message one JSON-RPC message on one line. Never throws: a peer that cannot be written to ends. */
  send(message: string): void;
  /** @returns when it is gone */
  close(): Promise<void>;
}

export type Connect = (events: PeerEvents) => Peer;

/** Tells the operator's log. Facts never hold what a person gave. */
export type Report = (facts: Readonly<Record<string, string | number>>, text: string) => void;

/** Why there is no answer, in words that the client may read. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: Extract<Reason, 'unreachable' | 'too-slow'>;
  /** What happened, for the log; a word. */
  readonly code: string;

  constructor(reason: UpstreamFailure['reason'], code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.code = code;
  }
}

export const tooSlow = (): UpstreamFailure => new UpstreamFailure('too-slow', 'TIMEOUT', 'The server behind this proxy did not answer in time.');
