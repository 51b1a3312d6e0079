/**
 * The unmodified `@upstash/context7-mcp` behind a stand-in of its API. The server is sessionless, speaks
 * both eras, and passes on each caller's key from `Authorization`, `X-API-Key` or `Context7-API-Key`;
 * `requests` says which key arrived at the API. Tools: `resolve-library-id` and `query-docs`.
 */
import { startDemoApi, type SeenRequest } from '../../src/operate/demo-api.ts';
import { startDemoUpstream } from '../../src/operate/demo-upstream.ts';

export interface Context7 {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  readonly close: () => Promise<void>;
}

/** Starts API and server; `close` ends both. */
export async function startContext7(): Promise<Context7> {
  const api = await startDemoApi();
  const upstream = await startDemoUpstream({ apiUrl: api.url, env: process.env, execPath: process.execPath });
  return {
    url: upstream.url,
    requests: api.seen,
    close: async () => {
      await upstream.close();
      await api.close();
    },
  };
}
