/** The proxy in front of a recorder, with one credential of kind oauth for the tool `paid`, and ways to connect it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startGateway, type GatewaySetup, type RunningGateway } from './gateway.ts';
import { connect, linkIn, urlMode, type McpClient } from './mcp-client.ts';
import { createWebVisitor, type Opened, type WebVisitor } from './web-visitor.ts';

export interface AccountSetup extends GatewaySetup {
  /** Keys of the credential beside kind, title and inject, as they stand in the file's `{ … }`. */
  readonly account: string;
  /** What goes into the Authorization header; the access token by default. */
  readonly authorization?: string;
  /** The rules of the upstream, instead of one that asks for the account for `paid`. */
  readonly rules?: string;
}

export interface RunningAccount extends RunningGateway {
  readonly client: McpClient;
  readonly ada: WebVisitor;
  /** A fresh link to the question. */
  readonly link: (tool?: string) => Promise<string>;
  /** From a link to the last page, through the third party's own. */
  readonly connect: (link?: string) => Promise<Opened>;
  /** Authorization headers as they arrived with calls of tools. */
  readonly tokens: () => readonly (string | undefined)[];
}

export async function startAccount(t: Pick<TestContext, 'after'>, setup: AccountSetup): Promise<RunningAccount> {
  const { account, authorization = 'Bearer {access_token}', rules = '[{ tools: [paid], requires: [box] }]', file = '', with: more, ...rest } = setup;
  const credentials = `credentials: { box: { kind: oauth, title: Box, ${account}, inject: { headers: { Authorization: "${authorization}" } } } }`;
  const upstreams = /^upstreams:/m.test(file) ? '' : `upstreams: { main: { url: "\${UPSTREAM}", rules: ${rules}${more === undefined ? '' : `, ${more}`} } }`;
  const gateway = await startGateway(t, { ...rest, file: [credentials, upstreams, file].join('\n') });
  const client = await connect(gateway.url, { capabilities: urlMode });
  const ada = createWebVisitor();
  const link = async (tool = 'paid'): Promise<string> => linkIn((await client.call(tool)).text);
  return {
    ...gateway,
    client,
    ada,
    link,
    connect: async (from) => goThrough(ada, from ?? (await link())),
    tokens: () => gateway.upstream.requests.filter(({ body }) => body.includes('"tools/call"')).map((request) => request.header('authorization')),
  };
}

/** Opens the link, goes to the third party, logs in there where it asks, and comes back. */
export async function goThrough(visitor: WebVisitor, link: string, person = 'ada-at-third'): Promise<Opened> {
  const page = await visitor.open(link);
  assert.match(page.html, /value="give"/, page.html);
  return logInAtThird(visitor, await visitor.submit(page, { action: 'give' }), person);
}

export async function logInAtThird(visitor: WebVisitor, page: Opened, person = 'ada-at-third'): Promise<Opened> {
  return page.html.includes('name="login"') ? visitor.submit(page, { login: person, password: 'x' }) : page;
}

/** The address at the third party to which the form sends, not opened. */
export async function addressOfThird(visitor: WebVisitor, link: string): Promise<string> {
  const page = await visitor.open(link);
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  const sent = await visitor.ask(page.url, { method: 'POST', body: new URLSearchParams({ csrf, action: 'give' }), headers: { origin: new URL(page.url).origin, 'sec-fetch-site': 'same-origin' } });
  assert.equal(sent.status, 303, sent.html);
  return sent.headers.get('location') ?? '';
}

export const headingOf = (page: { readonly html: string }): string | undefined => /<h1>([^<]*)/.exec(page.html)?.[1];
