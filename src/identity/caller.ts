/** How a caller is known: one way for each `identity` mode, and what she hears when she is not. */
import type { IncomingMessage } from 'node:http';
import type { Reason, Result } from '../errors.ts';
import type { Principal } from './principal.ts';

/** A request as far as its caller is known by it: Fastify's is one. */
export interface CallerRequest {
  readonly raw: IncomingMessage;
  /** The address that called, as trusted proxies tell it. */
  readonly ip: string;
}

export interface CallerFault {
  readonly reason: Reason;
  /** `error`, `error_description` and `scope` of a `WWW-Authenticate: Bearer` challenge (RFC 6750 §3); absent: no challenge helps. */
  readonly challenge?: Readonly<Record<string, string>>;
}

/**
 * @param audiences what a token for the endpoint names as its audience, one of them
 */
export type IdentifyCaller = (request: CallerRequest, audiences: readonly string[]) => Result<Principal, CallerFault> | Promise<Result<Principal, CallerFault>>;
