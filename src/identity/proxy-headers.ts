/**
 * Callers and visitors named by a trusted proxy in plain headers. They count only from a peer that the file
 * trusts and with the proxy's secret, where it has one; a header that comes twice, empty, or in a spelling
 * that some servers take for the same (`_` for `-`) makes the request nobody's.
 */
import { timingSafeEqual, createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { err, ok, type Result } from '../errors.ts';
import type { CallerFault } from './caller.ts';
import type { Claims, Principal } from './principal.ts';

export interface ProxyHeaderSettings {
  /** The header that names the person. */
  readonly user: string;
  readonly issuer: string;
  readonly secretHeader?: string;
  readonly secret?: string;
  /** Claims, each with the header that carries it; `name` and `client_id` are understood; the latter must come then. */
  readonly claims: Readonly<Record<string, string>>;
}

/** @param trustedProxies addresses and networks whose headers count; empty: every peer's that knows the secret */
export function createProxyHeaderIdentity(settings: ProxyHeaderSettings, trustedProxies: readonly string[]) {
  const networks = trustedProxies.map((network) => (network.includes('/') ? ipaddr.parseCIDR(network) : singleAddress(network)));
  const isTrusted = (address: string | undefined): boolean => {
    if (networks.length === 0) return settings.secret !== undefined;
    if (address === undefined || !ipaddr.isValid(address)) return false;
    const peer = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === peer.kind() && peer.match(network, bits));
  };

  return (request: IncomingMessage): Result<Principal, CallerFault> => {
    if (!isTrusted(request.socket.remoteAddress) || !knowsSecret(settings, request)) return err({ reason: 'unauthorized' });
    const subject = headerValue(request, settings.user);
    const claims = Object.entries(settings.claims).map(([claim, header]) => [claim, headerValue(request, header)] as const);
    if (typeof subject !== 'string' || claims.some(([, value]) => value === ambiguous)) return err({ reason: 'unauthorized' });
    const { name, client_id: clientId } = Object.fromEntries(claims.filter((claim) => typeof claim[1] === 'string')) as Readonly<Record<string, string | undefined>>;
    // Without it a client would pass for one that nobody is asked about.
    if (clientId === undefined && settings.claims['client_id'] !== undefined) return err({ reason: 'unauthorized' });
    return ok({ issuer: settings.issuer, subject, name: name ?? subject, claims: claimsFrom(claims), ...(clientId === undefined ? {} : { clientId }) });
  };
}

/** Proxies write several values into one header with commas between them, so each counts, and the whole too. */
function claimsFrom(claims: readonly (readonly [string, unknown])[]): Claims {
  return Object.fromEntries(claims.flatMap(([claim, value]) => {
    if (typeof value !== 'string') return [];
    return [[claim, value.includes(',') ? [value, ...value.split(',').map((part) => part.trim())] : value]];
  }));
}

function knowsSecret(settings: ProxyHeaderSettings, request: IncomingMessage): boolean {
  if (settings.secret === undefined || settings.secretHeader === undefined) return true;
  const said = headerValue(request, settings.secretHeader);
  return typeof said === 'string' && timingSafeEqual(sha256(said), sha256(settings.secret));
}

/** The header came twice, or in a spelling that the proxy in front may not have taken away. */
const ambiguous = Symbol('ambiguous');

/** @returns `undefined` for a header that did not come or is empty */
function headerValue(request: IncomingMessage, header: string): string | typeof ambiguous | undefined {
  const wanted = header.toLowerCase();
  const dashed = wanted.replaceAll('_', '-');
  const found: string[] = [];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]?.toLowerCase() ?? '';
    if (name.replaceAll('_', '-') !== dashed) continue;
    if (name !== wanted) return ambiguous;
    found.push(request.rawHeaders[at + 1]?.trim() ?? '');
  }
  if (found.length > 1) return ambiguous;
  return found[0] === '' ? undefined : found[0];
}

function singleAddress(address: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const parsed = ipaddr.process(address);
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128];
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
