/** Elicitgate in front of a program, for several people whom a proxy in front names, or for one. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect, linkIn, sendForHead, type Declared, type McpClient } from './mcp-client.ts';
import { planted } from './planted.ts';
import { startProxy, type RunningProxy } from './proxy.ts';
import { createWebVisitor } from './web-visitor.ts';

const proxySecret = planted('proxy-secret-of-stdio-77c1');
const people = `identity: { proxyHeaders: { user: X-User, issuer: "https://sso.example.com", secretHeader: X-Proxy-Secret, secret: ${proxySecret} } }`;

export interface StdioSetup {
  /** Arguments of test/kit/stdio-program.ts. */
  readonly args?: readonly string[];
  /** Another program: an entry of its own for the file's `command` and `args`. */
  readonly program?: { readonly command: string; readonly args: readonly string[] };
  /** The variable that the person's key goes into; default KEY. */
  readonly variable?: string;
  /** What a rule protects; default `["*"]`. */
  readonly tools?: string;
  /** Further keys of the credential, as in the file's `{ … }`. */
  readonly credential?: string;
  /** Further keys of the upstream, as in the file's `{ … }`. */
  readonly with?: string;
  /** Fewer rights are asked for than `trusted: true`. */
  readonly runAs?: string;
}

export interface StdioGateway {
  readonly url: string;
  readonly proxy: RunningProxy;
  readonly as: (person: string, declared?: Declared) => Promise<McpClient>;
  /** Begins a call that is never answered. @returns once it runs; `end` is what came of it */
  readonly hang: (person: string, client: McpClient, id: string) => Promise<{ readonly end: Promise<string> }>;
  /** Gives a key on the page that this tool's call leads to. */
  readonly give: (person: string, client: McpClient, tool: string, key: string) => Promise<void>;
  /** Takes the key away, or gives another, from the account page. */
  readonly account: (person: string, action: 'disconnect' | 'connect', key?: string) => Promise<void>;
}

export const programPath = join(import.meta.dirname, 'stdio-program.ts');

export function headersOf(person: string): Readonly<Record<string, string>> {
  return { 'X-User': person, 'X-Proxy-Secret': proxySecret };
}

export async function startStdioGateway(t: Pick<TestContext, 'after'>, setup: StdioSetup = {}): Promise<StdioGateway> {
  const { args = [], variable = 'KEY', tools = '["*"]', runAs = 'trusted: true', credential, with: more } = setup;
  const program = setup.program ?? { command: process.execPath, args: [programPath, ...args] };
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-test-'));
  const proxy = await startProxy(
    `${people}
credentials:
  key: { kind: apiKey, title: Key, fields: [{ name: token, label: Key }], inject: { env: { ${variable}: "{token}" } }${credential === undefined ? '' : `, ${credential}`} }
upstreams:
  main: { transport: stdio, command: ${JSON.stringify(program.command)}, args: ${JSON.stringify(program.args)}, ${runAs}, rules: [{ tools: ${tools}, requires: [key] }]${more === undefined ? '' : `, ${more}`} }`,
    { folder },
  );
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= proxy.close());
  t.after(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `${proxy.origin}/mcp`;
  const hang: StdioGateway['hang'] = async (person, client, id) => {
    const answer = await sendForHead(url, {
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '', ...headersOf(person) },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hang', arguments: {}, _meta: { progressToken: 't' } } }),
    });
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    return { end: once(answer, 'end').then(() => text) };
  };
  const submit = async (person: string, link: string, token: string): Promise<void> => {
    const web = createWebVisitor();
    const { status, html } = await web.submit(await web.open(link, headersOf(person)), { token, action: 'give' }, headersOf(person));
    assert.equal(status, 200, html);
  };
  return {
    url,
    proxy: { ...proxy, close },
    as: (person, declared = {}) => connect(url, { ...declared, headers: headersOf(person) }),
    hang,
    async give(person, client, tool, key) {
      await submit(person, linkIn((await client.call(tool)).text), key);
    },
    async account(person, action, key) {
      const web = createWebVisitor();
      const csrf = /name="csrf" value="([^"]*)"/.exec((await web.open(`${proxy.origin}/account`, headersOf(person))).html)?.[1] ?? '';
      const body = new URLSearchParams({ csrf, upstream: 'main', credential: 'key', action });
      const answer = await web.ask(`${proxy.origin}/account`, { method: 'POST', body, headers: headersOf(person) });
      if (key !== undefined) await submit(person, new URL(answer.headers.get('location') ?? '', proxy.origin).href, key);
    },
  };
}

/** The text of a tool's result. */
export function textOf(answer: { readonly message: { readonly result?: { readonly content?: readonly { readonly text: string }[] } }; readonly text: string }): string {
  const found = answer.message.result?.content?.[0]?.text;
  assert.ok(found !== undefined, answer.text);
  return found;
}
