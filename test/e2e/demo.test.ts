/** `npm start` and `npm run demo` as somebody runs them who has just cloned the project. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { chromium } from '../kit/chromium.ts';
import { startElicitgate, startScript, type Program } from '../kit/program.ts';
import { planted } from '../kit/planted.ts';
import { question, tool } from '../kit/protected-context7.ts';
import { submitPage } from '../kit/proxy.ts';
import { connectSdkClient, type SdkClient } from '../kit/sdk-client.ts';

const { browser, skip } = await chromium();
after(() => browser?.close());

const key = planted('demo-key-4f9d2c7b81');

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-demo-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'data');
}

/** Ends with the test, whatever happens in it. */
function started(t: TestContext, program: Program): Program {
  t.after(() => { program.signal('SIGTERM'); });
  return program;
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const link = async (program: Program) => (await program.says(/^ {2}(http:\/\/127\.0\.0\.1:\d+\/connect\/[\w-]+)$/m))[1] ?? '';

test('npm run demo: the person opens the link, gives a key, and the client goes on by itself to the end', { skip }, async (t) => {
  const folder = folderFor(t);
  const demo = started(t, startScript('demo', ['--port', '0', '--data', folder]));
  const url = await link(demo);
  assert.match(demo.stdout(), new RegExp(`A new key that seals what you give was written to ${folder}/elicitgate\\.key; keep that file\\.`));
  assert.match(demo.stdout(), /Context7 needs your Context7 credential to run “query-docs”/);
  assert.match(demo.stdout(), /nothing: the call has not left the proxy/);
  assert.ok(browser);
  const page = await browser.newPage({ locale: 'en-GB' });
  await page.goto(url);
  await page.getByLabel('API key').fill('too short');
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  assert.equal(await demo.end, 0);
  assert.match(await page.getByRole('main').innerText(), /Elicitgate demo goes on by itself/);
  await page.close();
  assert.match(demo.stdout(), /Authorization: Bearer de•{12} \(19 characters\)/);
  assert.match(demo.stdout(), /from the stand-in API/);
  const found = [...demo.stdout().matchAll(/^ {2}(what the client received|log|database file|audit trail) +(\d+) bytes {3}(.*)$/gm)].map(([, place, size, result]) => [place, Number(size) > 0, result]);
  assert.deepEqual(found, [
    ['what the client received', true, 'not there'],
    ['log', true, 'not there'],
    ['database file', true, 'not there'],
    ['audit trail', true, 'not there'],
  ]);
  assert.ok(!demo.stdout().includes(key), 'and not on the terminal');
  assert.equal(demo.stderr(), '');
  assert.deepEqual([mode(folder), mode(join(folder, 'elicitgate.key')), mode(join(folder, 'demo.db'))], ['700', '600', '600']);
});

test('npm start: the proxy runs until Ctrl-C; what was given is still there the next time, under the same key file', async (t) => {
  const folder = folderFor(t);
  const args = ['--port', String(await freePair()), '--data', folder];
  const connect = async (url: string): Promise<SdkClient> => {
    const client = await connectSdkClient(url);
    t.after(() => client.client.close());
    return client;
  };
  const first = started(t, startScript('start', args));
  const [, url = ''] = await first.says(/claude mcp add --transport http context7 (http:\/\/127\.0\.0\.1:\d+\/mcp)\n/);
  await first.says(/Stop with Ctrl-C\./);
  const keyFile = readFileSync(join(folder, 'elicitgate.key'), 'utf8');
  assert.match(keyFile, /^[A-Za-z0-9+/]{43}=\n$/);
  const client = await connect(url);
  const [asked] = await client.ask(tool, question);
  await submitPage(asked?.url ?? '', { key });
  await client.completion(asked?.elicitationId ?? '');
  assert.match(JSON.stringify(await client.call(tool, question)), /from the stand-in API/);
  await client.close();
  first.signal('SIGINT');
  // npm ends by the signal that it got itself; what it ran has closed its database.
  assert.equal(await first.end, 'SIGINT');
  assert.deepEqual(readdirSync(folder).sort(), ['audit.jsonl', 'elicitgate.db', 'elicitgate.key']);

  const second = started(t, startElicitgate(['demo', '--proxy-only', ...args]));
  const [, again = ''] = await second.says(/"url":"(http:\/\/127\.0\.0\.1:\d+\/mcp)"\}'/);
  assert.match(second.stdout(), new RegExp(`What you give is sealed with the key in ${folder}/elicitgate\\.key\\.`));
  assert.equal(readFileSync(join(folder, 'elicitgate.key'), 'utf8'), keyFile);
  const later = await connect(again);
  assert.match(JSON.stringify(await later.call(tool, question)), /from the stand-in API/);
  await later.close();
  second.signal('SIGTERM');
  assert.equal(await second.end, 0);
  for (const output of [first, second]) assert.ok(!(output.stdout() + output.stderr()).includes(key));
});

/** A free port whose neighbour, where the demo's server will listen, is free too. */
async function freePair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if ((await freePort(port + 1).catch(() => 0)) > 0) return port;
  }
}

test('Ctrl-C ends the demo while its server starts and while it waits for the person, with exit code 0 and no word of an error', async (t) => {
  const starting = folderFor(t);
  mkdirSync(starting);
  // The key file is made before the server is started.
  const watcher = watch(starting);
  t.after(() => { watcher.close(); });
  const keyFile = once(watcher, 'change');
  const early = started(t, startElicitgate(['demo', '--port', '0', '--data', starting]));
  await keyFile;
  early.signal('SIGINT');
  const late = started(t, startElicitgate(['demo', '--port', '0', '--data', folderFor(t)]));
  await link(late);
  late.signal('SIGINT');
  for (const demo of [early, late]) {
    assert.equal(await demo.end, 0);
    assert.equal(demo.stderr(), '');
  }
});

test('a port in use is told in one sentence, before anything of a running demo is touched', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const { port } = holder.address() as { readonly port: number };
  const folder = folderFor(t);
  const said = `Port ${port} is in use by another program; choose another with --port.\n`;
  for (const args of [[], ['--proxy-only']]) {
    const demo = startElicitgate(['demo', '--port', String(port), '--data', folder, ...args]);
    assert.equal(await demo.end, 1);
    assert.deepEqual([demo.stdout(), demo.stderr()], ['', said]);
  }
  assert.ok(!existsSync(folder));
});

test('a key file that holds no key is told; it is not replaced', async (t) => {
  const folder = folderFor(t);
  const first = started(t, startElicitgate(['demo', '--proxy-only', '--port', '0', '--data', folder]));
  await first.says(/Stop with Ctrl-C\./);
  first.signal('SIGINT');
  await first.end;
  const path = join(folder, 'elicitgate.key');
  writeFileSync(path, 'not a key\n');
  const demo = startElicitgate(['demo', '--proxy-only', '--port', '0', '--data', folder]);
  assert.equal(await demo.end, 1);
  assert.equal(demo.stderr(), `${path} holds no key. Put the right one back, or remove it together with the databases beside it.\n`);
  assert.equal(readFileSync(path, 'utf8'), 'not a key\n');
  writeFileSync(path, `${Buffer.alloc(32, 1).toString('base64')}\n`);
  const other = startElicitgate(['demo', '--proxy-only', '--port', '0', '--data', folder]);
  assert.equal(await other.end, 1);
  assert.match(other.stderr(), /^The keys in vault\.keys do not fit this database\./);
});
