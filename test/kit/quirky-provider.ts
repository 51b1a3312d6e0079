/**
 * An authorization server with the habits of real ones: no discovery, form-encoded answers, scopes separated
 * by commas, errors under status 200 or as HTML pages, no refresh token on the second consent. Its authorize
 * page sends people back at once. What each request got and how it is answered is the test's.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface QuirkyAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
}

export interface QuirkyProvider {
  readonly origin: string;
  /** Endpoints and client, as they stand in the file beside `kind: oauth`. */
  readonly account: string;
  readonly requests: readonly { readonly path: string; readonly query: URLSearchParams; readonly body: URLSearchParams; readonly authorization: string | undefined }[];
  /** Instead of its own answer to token requests. */
  readonly answerTokens: (answer: ((body: URLSearchParams) => QuirkyAnswer | Promise<QuirkyAnswer> | undefined) | undefined) => void;
  /** Added to, or taken from, the query with which people come back. */
  readonly sendBackWith: (query: Readonly<Record<string, string | undefined>>) => void;
  readonly close: () => Promise<void>;
}

export async function startQuirkyProvider(): Promise<QuirkyProvider> {
  const requests: QuirkyProvider['requests'][number][] = [];
  const challenges = new Map<string, string>();
  let answerTokens: ((body: URLSearchParams) => QuirkyAnswer | Promise<QuirkyAnswer> | undefined) | undefined;
  let back: Readonly<Record<string, string | undefined>> = {};
  let issued = 0;

  function ownAnswer(body: URLSearchParams): QuirkyAnswer {
    const isRefresh = body.get('grant_type') === 'refresh_token';
    const verifier = createHash('sha256').update(body.get('code_verifier') ?? '').digest('base64url');
    // GitHub says so under status 200.
    if (!isRefresh && challenges.get(body.get('code') ?? '') !== verifier) return form({ error: 'bad_verification_code', error_description: '<b>wrong</b>' });
    issued += 1;
    return form({ access_token: `quirky-access-${issued}`, scope: 'repo,read:user', expires_in: '3600', ...(issued === 1 ? { refresh_token: 'quirky-refresh-1' } : {}) });
  }

  const server = createServer((incoming, response) => {
    void (async () => {
      const { pathname: path, searchParams: query } = new URL(incoming.url ?? '', 'http://quirky');
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      requests.push({ path, query, body, authorization: incoming.headers.authorization });
      if (path === '/authorize') {
        const code = randomBytes(8).toString('hex');
        challenges.set(code, query.get('code_challenge') ?? '');
        const target = new URL(query.get('redirect_uri') ?? '');
        const all = { code, state: query.get('state') ?? '', ...back };
        for (const [name, value] of Object.entries(all)) if (value !== undefined) target.searchParams.set(name, value);
        response.writeHead(302, { location: target.href }).end();
        return;
      }
      if (path !== '/token') {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
        return;
      }
      const { status = 200, type = 'application/x-www-form-urlencoded', body: text = '' } = (await answerTokens?.(body)) ?? ownAnswer(body);
      response.writeHead(status, { 'content-type': type }).end(text);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://localhost:${String((server.address() as AddressInfo).port)}`;
  return {
    origin,
    account: `authorizationEndpoint: "${origin}/authorize", tokenEndpoint: "${origin}/token", clientId: gate, clientSecret: quirky-secret, clientAuth: { method: client_secret_post }, scopes: [repo, "read:user"], scopeSeparator: comma`,
    requests,
    answerTokens: (answer) => { answerTokens = answer; },
    sendBackWith: (query) => { back = query; },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export function form(values: Readonly<Record<string, string>>): QuirkyAnswer {
  return { body: new URLSearchParams(values).toString() };
}

export function jsonAnswer(value: unknown, status = 200): QuirkyAnswer {
  return { status, type: 'application/json', body: JSON.stringify(value) };
}
