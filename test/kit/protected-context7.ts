/** Elicitgate in front of the unmodified server of Context7, whose tool `query-docs` now needs a key of each person's own. */
import type { TestContext } from 'node:test';
import type { Context7 } from './context7.ts';
import { startProxy, type ProxyOptions, type RunningProxy } from './proxy.ts';
import { connectSdkClient, type SdkClient, type SdkClientOptions } from './sdk-client.ts';

/** The protected tool, and what to call it with. */
export const tool = 'query-docs';
export const question = { libraryId: '/demo/elicitgate', query: 'How does a person give a key?' };

export interface ProtectedContext7 {
  readonly proxy: RunningProxy;
  readonly connect: (options?: SdkClientOptions) => Promise<SdkClient>;
  /** A fresh link, given to a fresh client. */
  readonly link: () => Promise<string>;
}

/**
 * Starts the proxy; it and every client are closed when the test is over.
 * @param rest of the file: sections that a test wants otherwise than the kit's proxy has them
 */
export async function protectContext7(t: TestContext, context7: Pick<Context7, 'url'>, rest = '', options: ProxyOptions = {}): Promise<ProtectedContext7> {
  const proxy = await startProxy(fileFor(context7.url) + rest, options);
  const clients: SdkClient[] = [];
  t.after(async () => {
    await Promise.allSettled(clients.map((client) => client.close()));
    await proxy.close();
  });
  const connect = async (clientOptions?: SdkClientOptions): Promise<SdkClient> => {
    const client = await connectSdkClient(`${proxy.origin}/mcp`, clientOptions);
    clients.push(client);
    return client;
  };
  return {
    proxy,
    connect,
    async link() {
      const [asked] = await (await connect()).ask(tool, question);
      return asked?.url ?? '';
    },
  };
}

function fileFor(url: string): string {
  return `
credentials:
  context7:
    kind: apiKey
    title: { en: Context7, de: Context7 }
    description: { en: Your own key., de: Ihr eigener Schlüssel. }
    help: https://context7.com/dashboard
    fields:
      - name: key
        label: { en: API key, de: API-Schlüssel }
        hint: { en: begins with ctx7sk-, de: beginnt mit ctx7sk- }
        pattern: '^ctx7sk-'
    inject: { headers: { Authorization: "Bearer {key}" } }
upstreams:
  context7:
    title: Context7 tools
    url: ${url}
    rules: [{ tools: [query-docs], requires: [context7] }]
`;
}
