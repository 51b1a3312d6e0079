/** Programs behind the proxy, one process for each person, as their own clients see them over Streamable HTTP. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { post, sendForHead, toolCall } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { headersOf, startStdioGateway, textOf } from '../kit/stdio-gateway.ts';

const adasKey = planted('sk-ada-51c0ffee77aa');
const bensKey = planted('sk-ben-9d2e4b8801ff');

/** Resolves as soon as no process has this number any more. */
async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((next) => { setImmediate(next); });
}

function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  // A process that nobody has waited for is over, too.
  return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

describe('a program as an upstream', { concurrency: 2 }, () => {
  test('a client opens a session and lists tools before anybody has given a key; the process for that has discoveryEnv (P4)', async (t) => {
    const { as } = await startStdioGateway(t, { args: ['needs-key'], with: 'discoveryEnv: { KEY: placeholder }' });
    const ada = await as('ada');
    assert.equal(ada.opened.status, 200);
    assert.deepEqual(ada.opened.message, { jsonrpc: '2.0', id: 'open', result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'program', version: '1' } } });
    assert.match((await ada.post({ jsonrpc: '2.0', id: 7, method: 'tools/list' })).text, /^\{"jsonrpc":"2\.0","id":7,"result":\{"tools":\[/);
    assert.equal((await ada.post({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
  });

  test("each person's calls run in a process of her own that has her key, under her client's own parameters (A24)", async (t) => {
    const { as, give } = await startStdioGateway(t);
    const ada = await as('ada', { clientInfo: { name: 'adas-client', version: '3' } });
    const ben = await as('ben');
    await give('ada', ada, 'key', adasKey);
    assert.match((await ben.call('key')).text, /\/connect\//);
    await give('ben', ben, 'key', bensKey);
    const pids = [textOf(await ada.call('pid')), textOf(await ben.call('pid'))];
    assert.notEqual(pids[0], pids[1]);
    assert.match(textOf(await ada.call('opened')), /"clientInfo":\{"name":"adas-client","version":"3"\}/);
    // Scrubbing hides the value from the client; the process that has it is found by its number.
    assert.match(readFileSync(`/proc/${pids[0] ?? ''}/environ`, 'latin1'), new RegExp(`KEY=${adasKey}`));
    assert.match(readFileSync(`/proc/${pids[1] ?? ''}/environ`, 'latin1'), new RegExp(`KEY=${bensKey}`));
    assert.equal(textOf(await ada.call('key')), '[redacted]');
    assert.equal(textOf(await ada.call('pid')), pids[0], 'the process stays');
  });

  test('what no rule protects runs in a process of the person too, without her key', async (t) => {
    const { as, give } = await startStdioGateway(t, { tools: '[key]' });
    const [ada, ben] = [await as('ada'), await as('ben')];
    assert.equal(textOf(await ada.call('count')), '1');
    assert.equal(textOf(await ada.call('count')), '2');
    assert.equal(textOf(await ben.call('count')), '1', 'nobody sees what another person left in a process');
    await give('ada', ada, 'key', adasKey);
    assert.ok(!textOf(await ada.call('env')).includes('KEY'));
  });

  test('the environment is made from nothing, with an empty home that is gone with the process', async (t) => {
    process.env['ELICITGATE_TEST_LEAK'] = 'must not be inherited';
    t.after(() => { delete process.env['ELICITGATE_TEST_LEAK']; });
    const { as, give, proxy } = await startStdioGateway(t, { with: 'env: { LOG_LEVEL: info }' });
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const env = JSON.parse(textOf(await ada.call('env'))) as Record<string, string>;
    const { HOME = '', TMPDIR, ...rest } = env;
    assert.deepEqual(rest, { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LOG_LEVEL: 'info', KEY: '[redacted]' });
    assert.equal(TMPDIR, `${HOME}/tmp`);
    assert.ok(existsSync(HOME));
    await proxy.close();
    assert.ok(!existsSync(HOME));
  });

  test('ids come back as they were written, and many calls of equal ids at once are told apart', async (t) => {
    const { as, give } = await startStdioGateway(t);
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const other = await as('ada');
    const texts = await Promise.all(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? ada : other).post(toolCall('echo', { text: `n${at}` }, 0))));
    assert.deepEqual(texts.map(textOf), Array.from({ length: 40 }, (_, at) => `n${at}`));
    const odd = await ada.post('{"jsonrpc":"2.0", "id" : 9007199254740993,\n"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}');
    assert.match(odd.text, /"id":9007199254740993[,}]/);
    assert.match((await ada.post(toolCall('echo', { text: 'x' }, ''))).text, /"id":""[,}]/);
  });

  test("progress comes on the call's own stream under the caller's token", async (t) => {
    const { as, give } = await startStdioGateway(t);
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const answer = await ada.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'progress', arguments: {}, _meta: { progressToken: 'mine' } } });
    assert.equal(answer.headers['content-type'], 'text/event-stream');
    const data = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as unknown);
    assert.deepEqual(data, [
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'mine', progress: 1 } },
      { jsonrpc: '2.0', id: 5, result: { content: [{ type: 'text', text: 'progressed' }] } },
    ]);
  });

  test("what a person's process asks and announces reaches her own server stream, and her answer goes back", async (t) => {
    const { as, give, url } = await startStdioGateway(t);
    const [ada, ben] = [await as('ada'), await as('ben')];
    await give('ada', ada, 'key', adasKey);
    await give('ben', ben, 'key', bensKey);
    const streamOf = async (person: string, session: string | undefined) => {
      const answer = await sendForHead(url, { method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session ?? '', ...headersOf(person) } });
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      return {
        text: () => text,
        close: () => answer.destroy(),
        async says(what: RegExp): Promise<RegExpExecArray> {
          for (;;) {
            const match = what.exec(text);
            if (match !== null) return match;
            await once(answer, 'data');
          }
        },
      };
    };
    const [adas, bens] = [await streamOf('ada', ada.session), await streamOf('ben', ben.session)];
    assert.equal(textOf(await ada.call('announce')), 'announced');
    await adas.says(/"notifications\/tools\/list_changed"/);
    const call = ada.call('ask');
    const [, id = ''] = await adas.says(/"id":"([^"]+)","method":"sampling\/createMessage"/);
    assert.notEqual(id, 'q1', 'the process’s own id is nobody’s business');
    await ben.post({ jsonrpc: '2.0', id, result: { stolen: true } });
    assert.equal((await ada.post({ jsonrpc: '2.0', id, result: { model: 'm' } })).status, 202);
    assert.equal(textOf(await call), '{"model":"m"}');
    assert.ok(!bens.text().includes('data:'));
    for (const stream of [adas, bens]) stream.close();
  });

  test('a cancelled call is cancelled in the process, and a session that was ended is unknown', async (t) => {
    const { as, give, hang } = await startStdioGateway(t);
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const { end } = await hang('ada', ada, 'slow');
    assert.equal((await ada.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } })).status, 202);
    assert.equal((await end).match(/^data:/gm)?.length, 1, 'the progress, and no answer');
    assert.equal(textOf(await ada.call('heard')), 'notifications/initialized,notifications/cancelled');
    assert.equal((await ada.bare('DELETE')).status, 200);
    assert.equal((await ada.call('key')).status, 404);
  });

  test('a modern request is told that the program is of the older era, so that its client begins anew with initialize', async (t) => {
    const { url } = await startStdioGateway(t);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'm', version: '1' } };
    for (const method of ['server/discover', 'tools/list']) {
      const answer = await post(url, { jsonrpc: '2.0', id: 'd', method, params: { _meta } }, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...headersOf('ada') });
      assert.equal(answer.status, 400);
      assert.equal(answer.message.error?.code, -32600);
    }
  });

  test("another person's session is unknown, and so is one that never was", async (t) => {
    const { as, url } = await startStdioGateway(t);
    const ada = await as('ada');
    for (const session of [ada.session ?? '', 'made-up']) {
      assert.equal((await post(url, toolCall('key'), { ...headersOf('ben'), 'Mcp-Session-Id': session })).status, 404);
    }
  });
});

describe('the life of a process', { concurrency: 2 }, () => {
  test('a changed key starts a new one, the old one ends; a key that is taken away ends it at once', async (t) => {
    const { as, give, account } = await startStdioGateway(t);
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const first = Number(textOf(await ada.call('pid')));
    await account('ada', 'connect', bensKey);
    const second = Number(textOf(await ada.call('pid')));
    assert.notEqual(second, first);
    await gone(first);
    assert.match(readFileSync(`/proc/${second}/environ`, 'latin1'), new RegExp(`KEY=${bensKey}`));
    await account('ada', 'disconnect');
    await gone(second);
    assert.match((await ada.call('pid')).text, /\/connect\//);
  });

  test('one that nobody uses ends, and the next call starts another', async (t) => {
    const { as, give } = await startStdioGateway(t, { with: 'idleAfter: 50ms' });
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const first = Number(textOf(await ada.call('pid')));
    await gone(first);
    assert.notEqual(Number(textOf(await ada.call('pid'))), first);
  });

  test('where no more may run, the one idle longest gives way, and with none idle the newcomer alone is refused', async (t) => {
    const { as, give, hang } = await startStdioGateway(t, { with: 'maxProcesses: 1' });
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const first = Number(textOf(await ada.call('pid')));
    const ben = await as('ben');
    await gone(first);
    const second = Number(textOf(await ada.call('pid')));
    await give('ben', ben, 'key', bensKey);
    const { end } = await hang('ada', ada, 'slow');
    const refused = await ben.call('pid');
    assert.deepEqual(refused.message, { jsonrpc: '2.0', id: 1, error: { code: 1502, message: 'Everything that may run of this server is busy right now; try again in a minute.' } });
    assert.equal(textOf(await ada.call('pid')), String(second));
    await ada.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } });
    await end;
    assert.match(textOf(await ben.call('pid')), /^\d+$/);
  });

  test('a process takes with it what it started, and SIGKILL follows a SIGTERM that it ignores; none outlives the proxy', async (t) => {
    const { as, give, proxy } = await startStdioGateway(t);
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const young = Number(textOf(await ada.call('breed')));
    const stubborn = Number(textOf(await ada.call('ignoreSigterm')));
    await proxy.close();
    await gone(stubborn);
    await gone(young);
  });
});
