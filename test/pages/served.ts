/** Serves pages on loopback with the headers of the real ones, so that a browser judges them as it will. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defaultAccent, styleSheet } from '../../src/pages/style-sheet.ts';

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export interface Served {
  /** The address of a page by its name, without the language. */
  readonly url: (name: string) => string;
  /** Form bodies that were posted, oldest first. */
  readonly posted: readonly URLSearchParams[];
  readonly close: () => Promise<void>;
}

/**
 * @param pages documents by name; each is served at `/{name}`
 * @param accent of the style sheet at `/assets/style.css`, when its query names no other
 */
export async function servePages(pages: Readonly<Record<string, string>>, accent = defaultAccent): Promise<Served> {
  const posted: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    response.setHeader('Content-Security-Policy', policy);
    if (path === '/assets/style.css') {
      response.setHeader('Content-Type', 'text/css; charset=utf-8').end(styleSheet(searchParams.get('accent') ?? accent));
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      if (request.method === 'POST') posted.push(new URLSearchParams(body));
      response.setHeader('Content-Type', 'text/html; charset=utf-8').end(pages[path.slice(1)] ?? '<title>posted</title>');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (name) => `http://127.0.0.1:${String(port)}/${name}`,
    posted,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
