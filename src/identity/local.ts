/**
 * `identity.local`: one person on this machine. Whoever reaches the loopback listener is she, so a request
 * that came through another proxy is refused: its sender may be anyone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { err, ok, type Result } from '../errors.ts';
import type { Principal } from './principal.ts';

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'via', 'cf-connecting-ip', 'true-client-ip'];

export function createLocalIdentity(user: string): (headers: IncomingHttpHeaders) => Result<Principal, 'forwarded'> {
  const principal: Principal = { issuer: 'local', subject: user, name: user };
  return (headers) => (forwardingHeaders.some((name) => headers[name] !== undefined) ? err('forwarded') : ok(principal));
}
