/**
 * An MCP server as a program, without an SDK: it does what well-behaved servers do, and what others do.
 *
 *     KEY=… node stdio-program.ts [needs-key | silent | exits | modern | lists-by-key]
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>>; readonly _meta?: { readonly progressToken?: unknown }; readonly [key: string]: unknown };
  readonly result?: unknown;
}

const [mode] = process.argv.slice(2);
if (mode === 'exits' || (mode === 'needs-key' && process.env.KEY === undefined)) {
  console.error('KEY is missing');
  process.exit(1);
}

let opened: object | undefined;
let calls = 0;
const heard: string[] = [];
const asked = new Map<unknown, unknown>();

function say(message: object): void {
  writeSync(1, `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function tell(id: unknown, text: string): void {
  say({ id, result: { content: [{ type: 'text', text }] } });
}

const tools: Readonly<Record<string, (message: Message, args: Readonly<Record<string, unknown>>) => void>> = {
  key: ({ id }) => { tell(id, process.env.KEY ?? 'none'); },
  env: ({ id }) => { tell(id, JSON.stringify(process.env)); },
  pid: ({ id }) => { tell(id, String(process.pid)); },
  count: ({ id }) => { tell(id, String((calls += 1))); },
  opened: ({ id }) => { tell(id, opened === undefined ? 'undefined' : JSON.stringify(opened)); },
  heard: ({ id }) => { tell(id, heard.join()); },
  check({ id }) {
    const isBad = process.env.KEY?.includes('bad') === true;
    say({ id, result: { ...(mode === 'modern' ? { resultType: 'complete' } : {}), content: [{ type: 'text', text: isBad ? 'Error: bad credentials' : 'welcome' }], isError: isBad } });
  },
  echo: ({ id }, { text }) => { tell(id, String(text)); },
  die: () => { process.exit(3); },
  hang: ({ params }) => { say({ method: 'notifications/progress', params: { progressToken: params?._meta?.progressToken, progress: 0 } }); },
  noise: ({ id }) => {
    writeSync(1, `warning: something about ${process.env.KEY ?? ''}\n\n{"not": "ours"}\n[1]\n`);
    tell(id, 'after the noise');
  },
  flood({ id }, { megabytes }) {
    const piece = 'x'.repeat(1024 * 1024);
    const write = (left: number): void => { if (left > 0) process.stdout.write(piece, () => { write(left - 1); }); else tell(id, 'too late'); };
    write(Number(megabytes));
  },
  complain({ id }) {
    process.stderr.write(`using ${process.env.KEY ?? ''}\n${'a line of a stack trace\n'.repeat(20_000)}`, () => { tell(id, 'complained'); });
  },
  progress({ id, params }) {
    say({ method: 'notifications/progress', params: { progressToken: params?._meta?.progressToken, progress: 1 } });
    tell(id, 'progressed');
  },
  ask({ id }) {
    asked.set('q1', id);
    say({ id: 'q1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
  },
  announce({ id }) {
    say({ method: 'notifications/tools/list_changed' });
    tell(id, 'announced');
  },
  read({ id }, { path }) {
    try {
      tell(id, readFileSync(String(path), 'latin1'));
    } catch (error) {
      tell(id, `refused: ${error instanceof Error && 'code' in error ? String(error.code) : ''}`);
    }
  },
  breed({ id }) {
    const young = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    tell(id, String(young.pid));
  },
  ignoreSigterm({ id }) {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
    tell(id, String(process.pid));
  },
};

const lists: Readonly<Record<string, string>> = { 'tools/list': 'tools', 'resources/list': 'resources', 'prompts/list': 'prompts' };

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  const { id, method, params } = message;
  if (method === undefined) {
    tell(asked.get(id), JSON.stringify(message.result));
    return;
  }
  if (method.startsWith('notifications/')) {
    heard.push(method);
    return;
  }
  if (method === 'initialize') {
    opened = params;
    if (mode !== 'silent') say({ id, result: { protocolVersion: params?.['protocolVersion'], capabilities: { tools: {} }, serverInfo: { name: 'program', version: '1' } } });
  } else if (method === 'server/discover' && mode === 'modern') say({ id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: { name: 'program', version: '2' } } });
  else if (mode === 'lists-by-key' && lists[method] !== undefined) say({ id, result: { [lists[method]]: [{ name: process.env.KEY === undefined ? 'without a key' : 'with a key', uri: 'x:y', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/list') say({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  else if (method === 'tools/call') {
    const tool = tools[params?.name ?? ''];
    if (tool === undefined) say({ id, error: { code: -32602, message: 'no such tool' } });
    else tool(message, params?.arguments ?? {});
  } else say({ id, error: { code: -32601, message: 'Method not found' } });
});
