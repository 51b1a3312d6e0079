/**
 * The demo's client: the official SDK's, which behaves as VS Code does: it declares URL elicitation, shows
 * the link, waits for `notifications/elicitation/complete` and then calls again by itself. Everything
 * that it receives is written down, because that is all that a model could ever see.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitationCompleteNotificationSchema, UrlElicitationRequiredError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export interface Link {
  readonly elicitationId: string;
  readonly message: string;
  readonly url: string;
}

export interface DemoClient {
  /** Everything that reached the client, one JSON text for each message or error. */
  readonly transcript: readonly string[];
  /** Calls a tool; when the person is needed, `ask` shows the links, and the call goes on when one is answered. */
  call(name: string, args: Readonly<Record<string, unknown>>, ask: (links: readonly Link[]) => void): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** @param url of the MCP endpoint; @param version of this program */
export async function connectDemoClient(url: string, version: string): Promise<DemoClient> {
  const client = new Client({ name: 'elicitgate-demo', title: 'Elicitgate demo', version }, { capabilities: { elicitation: { url: {} } } });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const transcript: string[] = [];
  const waiting = new Map<string, () => void>();
  const ended = new Set<string>();
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    ended.add(params.elicitationId);
    waiting.get(params.elicitationId)?.();
  });
  await client.connect(transport);
  const deliver = transport.onmessage;
  transport.onmessage = (message) => {
    transcript.push(JSON.stringify(message));
    deliver?.(message);
  };
  const endOf = (elicitationId: string): Promise<void> =>
    new Promise((resolve) => {
      if (ended.has(elicitationId)) resolve();
      else waiting.set(elicitationId, resolve);
    });

  return {
    transcript,
    async call(name, args, ask) {
      for (;;) {
        try {
          return CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
        } catch (error) {
          if (!(error instanceof UrlElicitationRequiredError)) throw error;
          ask(error.elicitations);
          await Promise.all(error.elicitations.map((link) => endOf(link.elicitationId)));
        }
      }
    },
    async close() {
      await transport.terminateSession();
      await client.close();
    },
  };
}
