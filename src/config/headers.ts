/**
 * Words about HTTP headers that the file's checks and the relay share: one spelling for comparison,
 * and which headers belong to the connection (RFC 9110 §7.6.1) or to the relay itself.
 */

const ofTheConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
]);

const ofTheRelay = new Set(['accept', 'accept-encoding', 'last-event-id', 'origin']);

/** @returns one spelling for a header: many servers read `X_Key` and `x-key` alike */
export function canonicalHeader(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** @returns whether a header belongs to one connection, so that nobody else may set it */
export function isConnectionHeader(name: string): boolean {
  return ofTheConnection.has(canonicalHeader(name));
}

/** @returns whether a header of a forwarded message is the relay's own, so that no file may set it */
export function isRelayHeader(name: string): boolean {
  const canonical = canonicalHeader(name);
  return isConnectionHeader(name) || ofTheRelay.has(canonical) || /^(mcp|content)-/.test(canonical);
}
