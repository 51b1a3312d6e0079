/**
 * A stand-in for the API behind Context7's MCP server, so that the demo and the tests run without its
 * network service and can show which key arrived with a request.
 *
 * Promises: answers the two requests that the server makes (`/v2/libs/search`, `/v2/context`) in the
 * real API's shapes, on loopback, and remembers path and bearer key of each. Refuses everything else
 * with 404. Any key is good, and so is none.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly path: string;
  /** The bearer key that arrived, undefined when none did. */
  readonly key: string | undefined;
}

export interface DemoApi {
  /** What `CONTEXT7_API_URL` is to be set to. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  readonly close: () => Promise<void>;
}

/** Starts the stand-in on a free loopback port. */
export async function startDemoApi(): Promise<DemoApi> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    seen.push({ path: url.pathname, key: bearerKey(request) });
    answer(url, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function bearerKey(request: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
}

function answer(url: URL, response: ServerResponse): void {
  const query = url.searchParams.get('query') ?? '';
  switch (url.pathname) {
    case '/v2/libs/search':
      return sendJson(response, 200, { results: [library(url.searchParams.get('libraryName') ?? '')] });
    case '/v2/context':
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(documentation(url.searchParams.get('libraryId') ?? '', query));
      return;
    default:
      return sendJson(response, 404, { error: 'not_found', message: 'This stand-in knows no such path.' });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function library(name: string) {
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return {
    id: `/demo/${slug}`,
    title: name,
    description: `Documentation of ${name}, from the stand-in API.`,
    branch: 'main',
    lastUpdateDate: '2026-01-01T00:00:00.000Z',
    state: 'finalized',
    totalTokens: 1200,
    totalSnippets: 12,
    stars: 100,
    trustScore: 9,
    benchmarkScore: 90,
    versions: ['1.0.0'],
  };
}

function documentation(libraryId: string, query: string): string {
  return [
    `### ${query}`,
    '',
    `Source: https://context7.com${libraryId}`,
    '',
    `What ${libraryId} says about “${query}”, from the stand-in API.`,
    '',
    '```js',
    "import { answer } from 'demo';",
    '',
    'console.log(answer());',
    '```',
  ].join('\n');
}
