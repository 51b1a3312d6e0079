/** What follows from other keys when the file does not say it. */
import { formatAddress, isLoopbackHost, isWildcard, type Address } from './address.ts';

interface Reachable {
  readonly listen: Address;
  readonly publicUrl?: URL;
}

/** @returns what browsers and clients type; a wildcard address means this machine */
export function publicUrlOf({ listen, publicUrl }: Reachable): URL {
  const host = isWildcard(listen.host) ? 'localhost' : listen.host;
  return publicUrl ?? new URL(`http://${formatAddress({ host, port: listen.port })}`);
}

/** @returns whether only browsers and clients on this machine can reach the pages */
export function isOnThisMachine(server: Reachable): boolean {
  return isLoopbackHost(publicUrlOf(server).hostname);
}

/** @returns where an upstream answers below publicUrl */
export function upstreamPath(name: string, upstream: { readonly path?: string }): string {
  return upstream.path ?? `/${name}/mcp`;
}
