/** What a tool that reads files can find: nothing of the proxy, and nothing of another person (A27). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { programOf } from '../kit/installed.ts';
import { planted } from '../kit/planted.ts';
import { programPath, startStdioGateway, textOf } from '../kit/stdio-gateway.ts';

const adasKey = planted('sk-ada-51c0ffee77aa');
const bensKey = planted('sk-ben-9d2e4b8801ff');
const skip = process.getuid?.() === 0 ? false : 'needs root, to run programs as another user';

test('a program with runAs reads neither the proxy’s environment, nor its database, nor another person’s process and home (A27)', { skip }, async (t) => {
  // Where the other user may read it; so may be the runtime.
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-program-'));
  t.after(() => { rmSync(folder, { recursive: true, force: true }); });
  chmodSync(folder, 0o755);
  const [program, node] = [join(folder, 'program.ts'), join(folder, 'node')];
  cpSync(programPath, program);
  cpSync(process.execPath, node);
  for (const file of [program, node]) chmodSync(file, 0o755);
  const { as, give, proxy } = await startStdioGateway(t, { program: { command: node, args: [program] }, runAs: 'runAs: { uid: 54321, gid: 54321 }' });
  const [ada, ben] = [await as('ada'), await as('ben')];
  await give('ada', ada, 'key', adasKey);
  await give('ben', ben, 'key', bensKey);
  const [adasPid, bensPid] = [textOf(await ada.call('pid')), textOf(await ben.call('pid'))];

  const status = readFileSync(`/proc/${adasPid}/status`, 'utf8');
  assert.match(status, /^Uid:\t54321\t54321\t54321\t54321$/m);
  assert.match(status, /^Groups:\s*$/m, 'no group of the proxy is kept');
  const { HOME: bensHome = '' } = JSON.parse(textOf(await ben.call('env'))) as Record<string, string>;
  const home = statSync(bensHome);
  assert.deepEqual([home.uid, home.mode & 0o777], [54321, 0o700]);

  const read = async (path: string): Promise<string> => textOf(await ada.call('read', { path }));
  assert.match(await read('/proc/self/environ'), /KEY=\[redacted\]/);
  assert.equal(await read(`/proc/${process.pid}/environ`), 'refused: EACCES');
  assert.equal(await read(join(proxy.folder, 'elicitgate.db')), 'refused: EACCES');
  assert.equal(await read(`/proc/${bensPid}/environ`), 'refused: EACCES');
  assert.equal(await read(`/proc/${bensPid}/mem`), 'refused: EACCES');
  assert.equal(await read(join(bensHome, 'tmp')), 'refused: EACCES');
});

/** Whether that other user may read the runtime and the installed modules at all. */
const filesystem = programOf('@modelcontextprotocol/server-filesystem');
const isReadable = skip === false && spawnSync(process.execPath, ['--check', filesystem], { uid: 54321, gid: 54321 }).status === 0;

test('the unmodified server-filesystem, allowed to read everything, reads nothing of another person and nothing of the proxy (A27)', { skip: isReadable ? false : 'needs root, and modules that other users may read' }, async (t) => {
  const { as, give, proxy } = await startStdioGateway(t, { program: { command: process.execPath, args: [filesystem, '/'] }, runAs: 'runAs: { uid: 54321, gid: 54321 }' });
  const [ada, ben] = [await as('ada'), await as('ben')];
  await give('ada', ada, 'list_allowed_directories', adasKey);
  await give('ben', ben, 'list_allowed_directories', bensKey);
  const read = async (client: typeof ada, path: string): Promise<string> => textOf(await client.call('read_text_file', { path }));
  const pidOf = async (client: typeof ada): Promise<string> => /^Pid:\t(\d+)$/m.exec(await read(client, '/proc/self/status'))?.[1] ?? assert.fail('no number');
  const [adasPid, bensPid] = [await pidOf(ada), await pidOf(ben)];
  assert.notEqual(adasPid, bensPid);
  assert.match(await read(ada, `/proc/${adasPid}/environ`), /KEY=\[redacted\]/);
  const bensHome = /HOME=([^\0]+)/.exec(readFileSync(`/proc/${bensPid}/environ`, 'latin1'))?.[1] ?? assert.fail('no home');
  for (const path of [`/proc/${bensPid}/environ`, `/proc/${process.pid}/environ`, join(proxy.folder, 'elicitgate.db')]) assert.match(await read(ada, path), /EACCES/, path);
  assert.match(textOf(await ada.call('list_directory', { path: bensHome })), /EACCES/);
});
