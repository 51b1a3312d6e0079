/**
 * An MCP server that is itself protected by OAuth, on the SDK's 1.x server as its users write it:
 * `requireBearerAuth`, RFC 9728 metadata, a third party as its authorization server, tokens bound to it. Its
 * tool `whoami` needs the scope `read`, `change` needs `write` too; both answer with the token's person.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { ThirdParty } from './third-party.ts';

export interface ProtectedMcp {
  readonly url: string;
  /** Tokens that it was shown, in order. */
  readonly tokens: readonly string[];
  readonly close: () => Promise<void>;
}

export async function startProtectedMcp(third: ThirdParty, { metadata = {} }: { readonly metadata?: Readonly<Record<string, unknown>> } = {}): Promise<ProtectedMcp> {
  const tokens: string[] = [];
  const app = createMcpExpressApp();
  const http = createServer(app);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = new URL(`http://127.0.0.1:${String((http.address() as AddressInfo).port)}/mcp`);
  const described = (await (await fetch(`${third.issuer}/.well-known/openid-configuration`)).json()) as Parameters<typeof mcpAuthMetadataRouter>[0]['oauthMetadata'];
  // The SDK asks for an https issuer elsewhere; on loopback it need not be one.
  app.get('/.well-known/oauth-protected-resource/mcp', (_request, response) => {
    response.json({ resource: url.href, authorization_servers: [described.issuer], scopes_supported: ['read'], ...metadata });
  });
  const verifier = { verifyAccessToken: (token: string) => verify(third, token) };
  const guard = (requiredScopes: string[]) => requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url), expectedResource: url });
  const [reading, writing] = [guard(['read']), guard(['read', 'write'])];
  app.use('/mcp', (request, response, next) => {
    const token = request.headers.authorization?.replace('Bearer ', '');
    if (token !== undefined) tokens.push(token);
    const { params } = (request.body ?? {}) as { readonly params?: { readonly name?: string } };
    void (params?.name === 'change' ? writing : reading)(request, response, next);
  });
  app.all('/mcp', async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = new McpServer({ name: 'protected', version: '1.0.0' });
    for (const tool of ['whoami', 'change']) server.registerTool(tool, {}, ({ authInfo }) => ({ content: [{ type: 'text', text: `${tool}: ${String(authInfo?.extra?.['person'])}` }] }));
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  return {
    url: url.href,
    tokens,
    async close() {
      http.close();
      http.closeAllConnections();
      await once(http, 'close');
    },
  };
}

async function verify(third: ThirdParty, token: string): Promise<AuthInfo> {
  const found = await third.check(token);
  if (found === undefined) throw new InvalidTokenError('unknown token');
  const { person, scopes, audience } = found;
  return { token, clientId: 'any', scopes: [...scopes], expiresAt: Math.floor(Date.now() / 1_000) + 60, extra: { person }, ...(audience === undefined ? {} : { resource: new URL(audience) }) };
}
