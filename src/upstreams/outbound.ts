/**
 * The one guarded client for everything outside that is not an upstream: identity providers, third
 * parties. It follows no redirect, gives up after a while, reads no endless answer, and reaches private
 * and loopback addresses only where the file names the origin (or its network): otherwise an address that
 * somebody else chose could lead inside. The address is checked where the connection is made, so a name
 * that resolves anew cannot slip past.
 */
import { lookup as lookUpHost, type LookupAddress, type LookupOptions } from 'node:dns';
import { lookup as resolveHost } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, fetch as undiciFetch, ProxyAgent } from 'undici';
import type { Certificates } from './certificates.ts';

export type Outbound = (url: string, init?: OutboundInit) => Promise<Response>;

export interface OutboundInit {
  readonly method?: string | undefined;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface OutboundSettings {
  /** Origins that the file names: exempt from the address check. */
  readonly namedOrigins: ReadonlySet<string>;
  /** Networks that may be reached all the same: in CIDR notation, or single addresses. */
  readonly allow: readonly string[];
  /** Goes between, except to addresses inside that the file names. It resolves names itself, so only what this machine resolves too is checked. */
  readonly proxy?: URL | undefined;
  readonly certificates?: Certificates;
}

const timeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;

export interface OutboundClient {
  readonly fetch: Outbound;
  close(): Promise<void>;
}

export function createOutbound(settings: OutboundSettings): OutboundClient {
  const networks = settings.allow.map(parseNetwork);
  const mayReach = (address: string): boolean => isPublic(address) || networks.some((network) => isIn(address, network));
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, maxResponseSize: maxAnswerBytes };
  const connect = { timeout: timeoutMs, ...settings.certificates };
  const open = new Agent({ ...limits, connect });
  const guarded = new Agent({ ...limits, connect: { ...connect, lookup: guardedLookup(mayReach) } });
  const { proxy } = settings;
  const proxied = proxy === undefined ? undefined : new ProxyAgent({ ...limits, uri: proxy.href, connectTimeout: timeoutMs, requestTls: connect, proxyTls: connect });
  return {
    async fetch(url, init = {}) {
      const { origin, hostname } = new URL(url);
      const isNamed = settings.namedOrigins.has(origin);
      const literal = hostname.replace(/^\[|\]$/g, '');
      if (!isNamed && isIP(literal) !== 0 && !mayReach(literal)) throw new TypeError('an address inside is not reached unless the file names it');
      const isProxied = proxied !== undefined && !(isNamed && isInside(literal));
      if (isProxied && !isNamed && isIP(literal) === 0) await mustNotLeadInside(literal, mayReach);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = init.signal === undefined ? timeout : AbortSignal.any([init.signal, timeout]);
      const answer = await undiciFetch(url, { ...init, redirect: 'manual', signal, dispatcher: isProxied ? proxied : isNamed ? open : guarded } as Parameters<typeof undiciFetch>[1]);
      return answer as unknown as Response;
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy(), proxied?.destroy()]);
    },
  };
}

function guardedLookup(mayReach: (address: string) => boolean) {
  return (host: string, options: LookupOptions, done: (error: Error | null, address: string | LookupAddress[], family?: number) => void): void => {
    lookUpHost(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        done(error, []);
        return;
      }
      const reachable = addresses.filter((one) => mayReach(one.address));
      const [first] = reachable;
      if (first === undefined) done(new TypeError('an address inside is not reached unless the file names it'), []);
      else if (options.all === true) done(null, reachable);
      else done(null, first.address, first.family);
    });
  };
}

/** A name that this machine resolves must not lead inside; one that only the proxy resolves is the proxy's to judge. */
async function mustNotLeadInside(host: string, mayReach: (address: string) => boolean): Promise<void> {
  const addresses = await resolveHost(host, { all: true }).catch(() => []);
  if (addresses.length > 0 && !addresses.every(({ address }) => mayReach(address))) throw new TypeError('an address inside is not reached unless the file names it');
}

function isInside(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublic(host));
}

/** Everything that is not plainly a public unicast address is inside, IPv4 in IPv6 clothing (mapped, NAT64, 6to4) too. */
function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/** A single address is a network of one. */
function parseNetwork(network: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (network.includes('/')) return ipaddr.parseCIDR(network);
  const address = ipaddr.parse(network);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isIn(address: string, [network, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  const parsed = ipaddr.process(address);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}
