/** docs/clients.md says what each kind of client is sent; here each kind makes its call. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../kit/gateway.ts';
import { connect, sendForHead, toolCall, urlMode, type Declared } from '../kit/mcp-client.ts';
import { modernCall, modernServer } from '../kit/modern.ts';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');

/** Name and rung, as the page's first table has them. */
const written: Readonly<Record<string, string>> = Object.fromEntries([...page.matchAll(/^\| `([\w-]+)` \|[^|]*\| `([\w-]+)` \|/gm)].map(([, name = '', rung = '']) => [name, rung]));

interface Kind {
  /** The file's `elicitation`. */
  readonly file?: string;
  readonly modern?: boolean;
  readonly call: (url: string) => Promise<unknown>;
  readonly answers: RegExp;
}

const legacy = (declared: Declared) => async (url: string) => (await (await connect(url, declared)).call('paid')).text;
const modern = (capabilities: unknown) => async (url: string) => {
  const { status, text } = await modernCall(url, 'paid', {}, { capabilities });
  return `${status} ${text}`;
};
const named = (name: string, capabilities: unknown = {}) => legacy({ capabilities, clientInfo: { name, version: '1' } });

const kinds: Readonly<Record<string, Kind>> = {
  'legacy-url': { call: legacy({ capabilities: urlMode }), answers: /"code":-32042.*\/connect\// },
  'legacy-form': { call: legacy({ capabilities: { elicitation: {} } }), answers: /\/connect\/.*"isError":true/ },
  'legacy-none': { call: legacy({}), answers: /\/connect\/.*"isError":true/ },
  'legacy-refuse': { file: 'fallback: refuse', call: legacy({}), answers: /^(?!.*\/connect\/).*"code":1401/ },
  'legacy-treated-as-url': { file: 'clients: [{ name: editor, treatAs: url }]', call: named('editor'), answers: /"code":-32042/ },
  'legacy-treated-as-text': { file: 'clients: [{ name: robot, treatAs: text }]', call: named('robot', urlMode), answers: /"isError":true/ },
  'bridge-treated-as-url': { file: 'clients: [{ name: editor, treatAs: url }]', call: named('editor (via mcp-remote 0.1.38)'), answers: /"code":-32042/ },
  'legacy-hold': { file: 'delivery: hold', call: heldCall, answers: /"method":"elicitation\/create"/ },
  'modern-url': { modern: true, call: modern(urlMode), answers: /^200 .*"resultType":"input_required"/ },
  'modern-none': { modern: true, call: modern({}), answers: /^200 (?=.*"resultType":"complete")(?=.*"isError":true).*\/connect\// },
  'modern-refuse': { modern: true, file: 'fallback: refuse', call: modern({}), answers: /^400 (?!.*\/connect\/).*"code":-32021/ },
};

/** Reads until the question is there, and hangs up. */
async function heldCall(url: string): Promise<string> {
  const client = await connect(url, { capabilities: urlMode });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': client.session ?? '', 'MCP-Protocol-Version': '2025-11-25' };
  const answer = await sendForHead(url, { headers, body: JSON.stringify(toolCall('paid')) });
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.includes('elicitation/create')) break;
  }
  return text;
}

function gateway(t: TestContext, { file, modern: isModern = false }: Kind): Promise<RunningGateway> {
  return startGateway(t, { ...(isModern ? { upstream: modernServer() } : {}), ...(file === undefined ? {} : { file: `elicitation: { ${file} }` }) });
}

test('the table names every kind of client that is tried here, and no other', () => {
  assert.deepEqual(Object.keys(written), Object.keys(kinds));
});

for (const [name, kind] of Object.entries(kinds)) {
  test(`${name} is sent what docs/clients.md says`, async (t) => {
    const { url, proxy, upstream } = await gateway(t, kind);
    assert.match(String(await kind.call(url)), kind.answers);
    assert.deepEqual(proxy.audit.filter(({ audit }) => audit === 'asked').map(({ rung }) => rung), [written[name]]);
    assert.equal(upstream.requests.some(({ body }) => body.includes('tools/call')), false);
  });
}

test('every client has a set-up that can be copied, marked as tried or not, and its JSON is JSON', () => {
  const sections = page.slice(page.indexOf('\n## Set-up')).split('\n### ').slice(1);
  assert.deepEqual(sections.map((section) => section.split('\n')[0]), ['VS Code', 'Claude Code', 'Claude Desktop', 'Cursor', 'Codex', 'Goose', 'Inspector']);
  for (const section of sections) {
    assert.match(section, /\btried\b/);
    assert.match(section, /```[\s\S]*https:\/\/mcp\.example\.com\/mcp[\s\S]*```/);
  }
  for (const [, json = ''] of page.matchAll(/```json\n([\s\S]*?)```/g)) assert.equal(typeof JSON.parse(json), 'object');
});
