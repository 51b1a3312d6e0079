/**
 * Whether a request was meant for this server: its Host and its Origin, against DNS rebinding (MCP
 * 2025-11-25, basic/transports, security warning). A request without Origin is not from a page.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface AddressSettings {
  readonly publicUrl: URL;
  readonly listen: { readonly host: string; readonly port: number };
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export interface AddressGuard {
  check(headers: IncomingHttpHeaders): 'foreign-host' | 'foreign-origin' | undefined;
  /** Origins of this server's own pages. */
  isOwnOrigin(origin: string): boolean;
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

export function createAddressGuard(settings: AddressSettings): AddressGuard {
  const { publicUrl, listen } = settings;
  const listenHost = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const names = loopbackNames.includes(listenHost) || loopbackNames.includes(publicUrl.hostname) ? [...loopbackNames, listenHost] : [listenHost];
  const served = [publicUrl.host, withPort(publicUrl), ...names.map((name) => `${name}:${listen.port}`)];
  const hosts = new Set([...served, ...settings.allowedHosts].map((host) => host.toLowerCase()));
  const own = new Set([publicUrl.origin, ...names.map((name) => `http://${name}:${listen.port}`)]);
  const origins = new Set([...own, ...settings.allowedOrigins]);
  return {
    check(headers) {
      const { host, origin } = headers;
      if (host === undefined || !hosts.has(host.toLowerCase())) return 'foreign-host';
      return origin === undefined || origins.has(origin) ? undefined : 'foreign-origin';
    },
    isOwnOrigin: (origin) => own.has(origin),
  };
}

/** `Host` may name the scheme's default port or leave it out (RFC 9110 §7.2). */
function withPort(url: URL): string {
  const defaultPort = url.protocol === 'https:' ? '443' : '80';
  return `${url.hostname}:${url.port === '' ? defaultPort : url.port}`;
}
