/** The proxy behind a real identity provider: people call it with access tokens and open its pages after a login. */
import type { TestContext } from 'node:test';
import { startGateway, type GatewaySetup, type RunningGateway } from './gateway.ts';
import type { IdentityProvider, TokenWish } from './identity-provider.ts';
import { connect, linkIn, urlMode, type McpClient } from './mcp-client.ts';

export interface RightPersonSetup extends GatewaySetup {
  /** Further keys of `identity.oauth`. */
  readonly oauth?: string;
}

export interface RightPerson extends RunningGateway {
  /** An access token for this endpoint. */
  readonly token: (person: string, wish?: Partial<TokenWish>) => Promise<string>;
  /** A client in whose name a person calls; it takes URLs. */
  readonly client: (person: string, wish?: Partial<TokenWish>) => Promise<McpClient>;
  /** The link with which her call of `paid` is answered. */
  readonly link: (client: McpClient) => Promise<string>;
}

export async function startRightPerson(t: Pick<TestContext, 'after'>, provider: IdentityProvider, setup: RightPersonSetup = {}): Promise<RightPerson> {
  const { oauth = '', file = '', ...rest } = setup;
  const identity = /^identity:/m.test(file) ? '' : `identity: { oauth: { issuer: "${provider.issuer}", login: ${provider.login}${oauth === '' ? '' : `, ${oauth}`} } }`;
  const gateway = await startGateway(t, { ...rest, file: [identity, file].join('\n') });
  const token: RightPerson['token'] = (person, wish = {}) => provider.token(person, { audience: gateway.url, ...wish });
  return {
    ...gateway,
    token,
    client: async (person, wish = {}) => connect(gateway.url, { capabilities: urlMode, clientInfo: { name: `${wish.client ?? 'desk'}-app`, version: '1' }, headers: bearer(await token(person, wish)) }),
    link: async (client) => linkIn((await client.call('paid')).text),
  };
}

export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}
