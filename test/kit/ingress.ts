/**
 * An ingress with authentication in front of the proxy (as oauth2-proxy behind nginx): knows people by a
 * session cookie of its own, takes away what clients claim in the headers that it sets, and passes the
 * rest on byte by byte.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface IngressOptions {
  /** Sets these headers for a person that it knows. */
  readonly headersOf: (person: string) => Readonly<Record<string, string>>;
  /** Takes these away from what clients send, in exactly this spelling in any case; nothing for a careless one. */
  readonly strips?: readonly string[];
  /** Host that is passed on; the client's by default. */
  readonly host?: string;
}

export interface Ingress {
  readonly origin: string;
  /** Where it passes requests to. */
  readonly passTo: (origin: string) => void;
  readonly close: () => Promise<void>;
}

/** A cookie `person=ada` is the session of Ada. */
export async function startIngress({ headersOf, strips = [], host }: IngressOptions): Promise<Ingress> {
  const taken = new Set(strips.map((name) => name.toLowerCase()));
  let upstream = '';
  const server = createServer((incoming, response) => {
    const person = /(?:^|; )person=(\w+)/.exec(incoming.headers.cookie ?? '')?.[1];
    const headers: string[] = [];
    for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
      const [name = '', value = ''] = incoming.rawHeaders.slice(at, at + 2);
      if (!taken.has(name.toLowerCase()) && !(host !== undefined && name.toLowerCase() === 'host')) headers.push(name, value);
    }
    if (host !== undefined) headers.push('Host', host);
    headers.push('X-Forwarded-For', incoming.socket.remoteAddress ?? '', 'X-Forwarded-Proto', 'https');
    if (person !== undefined) headers.push(...Object.entries(headersOf(person)).flat());
    const outgoing = httpRequest(upstream + (incoming.url ?? ''), { method: incoming.method, agent: false, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    passTo: (origin) => { upstream = origin; },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
