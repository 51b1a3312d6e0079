/** What a tool that reads files can find: nothing of the proxy, and nothing of another person (A27). */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
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
