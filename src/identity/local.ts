/**
 * `identity.local`: one person on this machine. Whoever reaches the loopback listener is she, so a request
 * that came through another proxy is refused: its sender may be anyone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { err, ok, type Result } from '../errors.ts';
import type { CallerFault } from './caller.ts';
import type { Principal } from './principal.ts';

const forwardingHeaders = [
  'forwarded', 'forwarded-for', 'via', 'x-forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port',
  'x-forwarded-server', 'x-forwarded-user', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'cf-connecting-ip', 'true-client-ip',
];

export function createLocalIdentity(user: string): (headers: IncomingHttpHeaders) => Result<Principal, CallerFault> {
  const principal: Principal = { issuer: 'local', subject: user, name: user };
  return (headers) => (forwardingHeaders.some((name) => headers[name] !== undefined) ? err({ reason: 'forwarded' }) : ok(principal));
}
