/**
 * The official SDK's client 1.x, as hosts build it: it declares URL elicitation or not, opens its server
 * stream, and is told of questions that were answered. Every byte of every answer that reaches it is kept,
 * because that is all that a model could ever see.
 */
import { UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import {
  CallToolResultSchema,
  ElicitationCompleteNotificationSchema,
  UrlElicitationRequiredError,
  type CallToolResult,
  type ElicitRequestURLParams,
} from '@modelcontextprotocol/sdk/types.js';

export interface SdkClientOptions {
  /** Declares `elicitation.url`; default true. */
  readonly takesUrls?: boolean;
  /** `clientInfo.title`; default "Test client". */
  readonly title?: string;
  /** Where its access token comes from. */
  readonly authProvider?: OAuthClientProvider;
}

export interface SdkClient {
  readonly client: Client;
  /** Calls a tool that is expected to run. */
  readonly call: (name: string, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult>;
  /** Calls a tool that is expected to be answered with a question, and gives its links. */
  readonly ask: (name: string, args: Readonly<Record<string, unknown>>) => Promise<readonly ElicitRequestURLParams[]>;
  /** Resolves when the client is told that this question was answered. */
  readonly completion: (elicitationId: string) => Promise<void>;
  /** Every id that the client was told of, in the order in which they came. */
  readonly completed: readonly string[];
  /** Status and headers of every answer, and whatever came of its body, as text. */
  readonly received: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Connects to an MCP endpoint.
 * @returns after the server stream has been answered, so that notifications find it open
 */
export async function connectSdkClient(url: string, options: SdkClientOptions = {}): Promise<SdkClient> {
  const capabilities = options.takesUrls === false ? {} : { elicitation: { url: {} } };
  const client = new Client({ name: 'sdk-client', title: options.title ?? 'Test client', version: '1.0.0' }, { capabilities });
  const chunks: Uint8Array[] = [];
  const stream = Promise.withResolvers<void>();
  const record = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    chunks.push(Buffer.from(`\n${String(response.status)} ${JSON.stringify([...response.headers])}\n`));
    if (init?.method === 'GET') stream.resolve();
    const body = response.body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    }));
    return new Response(body ?? null, response);
  };
  const completed: string[] = [];
  const waiting = new Map<string, () => void>();
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    completed.push(params.elicitationId);
    waiting.get(params.elicitationId)?.();
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: record, ...(options.authProvider === undefined ? {} : { authProvider: options.authProvider }) });
  await client.connect(transport);
  await stream.promise;

  const call = async (name: string, args: Readonly<Record<string, unknown>>) => CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  return {
    client,
    call,
    async ask(name, args) {
      try {
        const result = await call(name, args);
        throw new Error(`${name} was not answered with a question: ${JSON.stringify(result)}`);
      } catch (error) {
        if (error instanceof UrlElicitationRequiredError) return error.elicitations;
        throw error;
      }
    },
    completion: (elicitationId) =>
      new Promise((resolve) => {
        if (completed.includes(elicitationId)) resolve();
        else waiting.set(elicitationId, resolve);
      }),
    completed,
    received: () => Buffer.concat(chunks).toString(),
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

/**
 * Gets an access token as a host does that has none: the server's 401 leads to its metadata, to the issuer, and to the
 * page where the person logs in.
 * @param redirectUrl where the issuer sends her back
 * @param logIn opens the issuer's page; resolves to the address at which it came back
 */
export async function authorizeSdkClient(url: string, clientId: string, redirectUrl: string, logIn: (page: URL) => Promise<URL>): Promise<OAuthClientProvider> {
  let verifier = '';
  let page: URL | undefined;
  let tokens: OAuthTokens | undefined;
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => tokens,
    saveTokens: (saved) => { tokens = saved; },
    redirectToAuthorization: (address) => { page = address; },
    saveCodeVerifier: (saved) => { verifier = saved; },
    codeVerifier: () => verifier,
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  try {
    await new Client({ name: 'sdk-client', version: '1.0.0' }).connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || page === undefined) throw error;
    await transport.finishAuth((await logIn(page)).searchParams.get('code') ?? '');
  }
  await transport.close();
  return authProvider;
}
