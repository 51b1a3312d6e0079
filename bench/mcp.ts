/** What the bench needs of an MCP client, through fetch: opening a session, making one call. */

export type Headers = Readonly<Record<string, string>>;

interface Message {
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly elicitations?: readonly { readonly url: string }[] };
  };
}

/**
 * Opens a session as a client that declares URL elicitation.
 * @param always headers of every request, such as an access token
 * @returns the headers of every later request of this session
 */
export async function openSession(url: string, always: Headers = {}): Promise<Headers> {
  const { headers } = await post(url, always, {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { url: {} } },
      clientInfo: { name: 'bench', version: '1' },
    },
  });
  const session = headers.get('mcp-session-id');
  return { ...always, 'mcp-protocol-version': '2025-11-25', ...(session === null ? {} : { 'mcp-session-id': session }) };
}

/** Calls a tool that takes no arguments. */
export async function callTool(url: string, session: Headers, name: string): Promise<Message> {
  const { body } = await post(url, session, { id: 2, method: 'tools/call', params: { name, arguments: {} } });
  return JSON.parse(body) as Message;
}

async function post(url: string, session: Headers, message: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body}`);
  return { headers: response.headers, body };
}
