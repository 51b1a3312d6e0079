/**
 * Addresses of the file: `host:port` (IPv6 in brackets) and the question whether a host is this
 * machine only. Names are never resolved: only `localhost` and its subdomains count as loopback
 * (RFC 6761 §6.3).
 */
import ipaddr from 'ipaddr.js';
import { err, ok, type Result } from '../errors.ts';

export interface Address {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  readonly port: number;
}

const right = 'host:port, e.g. 127.0.0.1:8080, localhost:8080 or [::1]:8080';
const hostName = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** @returns host and port (0 lets the system choose), or the words for what would be right */
export function parseAddress(text: string): Result<Address, string> {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return err(right);
  if (bracketed !== undefined) return ipaddr.IPv6.isValid(bracketed) ? ok({ host: bracketed, port }) : err(right);
  if (plain === undefined || !hostName.test(plain)) return err(right);
  if (/^[\d.]+$/.test(plain) && !ipaddr.IPv4.isValidFourPartDecimal(plain)) return err(right);
  return ok({ host: plain, port });
}

/** @returns the address as it stands in a URL */
export function formatAddress(address: Address): string {
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}

/**
 * @param host a host name or an IP address, with or without brackets
 * @returns whether only this machine can be meant
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback';
}

/** @returns whether a listening address means every address of this machine */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** @returns the network as it was written, or the words for what would be right */
export function parseNetwork(text: string): Result<string, string> {
  // A bare number would be read as an IPv4 address in one part.
  const isWhole = /[.:].*[.:]/.test(text);
  if (isWhole && (ipaddr.isValidCIDR(text) || ipaddr.isValid(text))) return ok(text);
  return err('an IP address or a network such as 10.0.0.0/8 or fd00::/8');
}
