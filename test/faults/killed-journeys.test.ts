/** B3: the process is killed (SIGKILL) at each step of a journey to a third party; she simply tries again, and nothing is half stored. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { generateKey } from '../../src/operate/key-file.ts';
import { addressOfThird, headingOf, logInAtThird } from '../kit/account-setup.ts';
import { connect, linkIn, urlMode } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { startElicitgate } from '../kit/program.ts';
import { startRecorder } from '../kit/recorder.ts';
import { startThirdParty } from '../kit/third-party.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const third = await startThirdParty();
const upstream = await startRecorder(mcpServer());
after(() => Promise.all([third.close(), upstream.close()]));

test('killed while she is away, while her code is redeemed, and after it was stored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'elicitgate-'));
  t.after(() => { rmSync(folder, { recursive: true }); });
  const origin = `http://127.0.0.1:${String(await freePort())}`;
  const path = join(folder, 'elicitgate.yaml');
  writeFileSync(path, `version: 1
server: { listen: "${new URL(origin).host}", admin: false, drain: 1s }
identity: { local: { user: ada } }
vault: { store: "sqlite:./elicitgate.db", keys: ["${generateKey()}"] }
credentials: { box: { kind: oauth, title: Box, issuer: "${third.issuer}", ${third.client}, scopes: [read], inject: { headers: { Authorization: "Bearer {access_token}" } } } }
upstreams: { main: { url: "${upstream.url}", rules: [{ tools: [paid], requires: [box] }] } }
`);
  const start = async () => {
    const program = startElicitgate(['serve', '-c', path]);
    await program.logs(/serving/);
    return program;
  };
  const kill = async (program: Awaited<ReturnType<typeof start>>) => {
    program.signal('SIGKILL');
    await program.end;
  };
  const call = async () => (await connect(`${origin}/mcp`, { capabilities: urlMode })).call('paid');

  let program = await start();
  const ada = createWebVisitor();
  const link = linkIn((await call()).text);
  const first = await addressOfThird(ada, link);
  await kill(program);
  program = await start();
  const gate = Promise.withResolvers<void>();
  const arrived = third.asked('/token');
  third.holdTokens(gate.promise);
  const cut = logInAtThird(ada, await ada.open(first)).then(() => 'answered', () => 'cut');
  await arrived;
  await kill(program);
  third.holdTokens(undefined);
  gate.resolve();
  assert.equal(await cut, 'cut', 'what was away came back to the new process, which was killed while it redeemed the code');

  program = await start();
  assert.equal((await call()).message.error?.code, -32042, 'nothing is half stored');
  const done = await logInAtThird(ada, await ada.open(await addressOfThird(ada, link)));
  assert.equal(headingOf(done), 'Box is connected');
  await kill(program);
  program = await start();
  t.after(() => kill(program));
  assert.match((await call()).text, /"paid"/);
});
