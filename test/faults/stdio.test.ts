/** Programs that fail in every way that programs have: each is a clear error for who called, and nobody else notices. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toolCall } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { startStdioGateway, textOf } from '../kit/stdio-gateway.ts';

const adasKey = planted('sk-ada-51c0ffee77aa');
const bensKey = planted('sk-ben-9d2e4b8801ff');

const ended = 'The server behind this proxy ended before it answered; its operator can see why in the log.';

/** Two people with keys, each with a process. */
async function twoPeople(t: Parameters<typeof startStdioGateway>[0], setup: Parameters<typeof startStdioGateway>[1] = {}) {
  const gateway = await startStdioGateway(t, setup);
  const [ada, ben] = [await gateway.as('ada'), await gateway.as('ben')];
  await gateway.give('ada', ada, 'key', adasKey);
  await gateway.give('ben', ben, 'key', bensKey);
  const bensPid = textOf(await ben.call('pid'));
  return { ...gateway, ada, ben, bensPid };
}

describe('a program that fails', { concurrency: 2 }, () => {
  test('a command that is not there, and a program that exits at once or refuses its key, are a clear error (P4)', async (t) => {
    for (const setup of [{ program: { command: '/not/there', args: [] } }, { args: ['exits'] }]) {
      const { as, proxy } = await startStdioGateway(t, setup);
      const { status, message } = (await as('ada')).opened;
      assert.equal(status, 200);
      assert.deepEqual(message, { jsonrpc: '2.0', id: 'open', error: { code: 1502, message: setup.args === undefined ? 'The program behind this proxy cannot be started; its operator can see why in the log.' : ended } });
      assert.ok(proxy.log.some((line) => line.includes(setup.args === undefined ? 'START_ENOENT' : 'KEY is missing')));
    }
  });

  test('the log says which command was looked for, and on which PATH', async (t) => {
    const { as, proxy } = await startStdioGateway(t, { program: { command: 'not-there', args: [] }, with: 'env: { PATH: /opt/here }' });
    await as('ada');
    const said = proxy.log.map((line) => JSON.parse(line) as { msg: string; line?: string }).find(({ msg }) => msg === 'the program did not start');
    assert.equal(said?.line, 'not-there cannot be started: ENOENT, looked for on the PATH /opt/here (env: { PATH: … } sets another)');
  });

  test('one that never answers is given up after the timeout, at its start and in a call', async (t) => {
    const silent = await startStdioGateway(t, { args: ['silent'], with: 'timeout: 150ms' });
    assert.deepEqual((await silent.as('ada')).opened.message.error, { code: 1504, message: 'The server behind this proxy did not answer in time.' });
    const { as, give } = await startStdioGateway(t, { with: 'timeout: 3s' });
    const ada = await as('ada');
    await give('ada', ada, 'key', adasKey);
    const late = await ada.post(toolCall('hang', {}, 'x'));
    assert.deepEqual(late.message, { jsonrpc: '2.0', id: 'x', error: { code: 1504, message: 'The server behind this proxy did not answer in time.' } });
  });

  test('one that dies in mid-call fails the calls that were open; the next call starts another, and others are not touched (P1)', async (t) => {
    const { ada, ben, bensPid, hang } = await twoPeople(t);
    const first = textOf(await ada.call('pid'));
    const { end } = await hang('ada', ada, 'slow');
    const death = await ada.call('die');
    assert.deepEqual(death.message, { jsonrpc: '2.0', id: 1, error: { code: 1502, message: ended } });
    assert.match(await end, new RegExp(`"id":"slow","error":\\{"code":1502`));
    assert.notEqual(textOf(await ada.call('pid')), first);
    assert.equal(textOf(await ben.call('pid')), bensPid);
  });

  test('100 MB without a line break end the process and cost no more memory than a line may have', async (t) => {
    const { ada, ben, bensPid, proxy } = await twoPeople(t);
    const flooded = await ada.call('flood', { megabytes: 100 });
    assert.deepEqual(flooded.message.error, { code: 1502, message: 'The server behind this proxy gave no usable answer.' });
    assert.ok(proxy.log.some((line) => line.includes('"reason":"ENDLESS_LINE"')));
    assert.equal(textOf(await ben.call('pid')), bensPid);
    assert.match(textOf(await ada.call('pid')), /^\d+$/);
  });

  test('noise on standard output is skipped with a warning that holds no secret (P3)', async (t) => {
    const { ada, proxy } = await twoPeople(t);
    assert.equal(textOf(await ada.call('noise')), 'after the noise');
    const warned = proxy.log.map((line) => JSON.parse(line) as { msg: string; line?: string; stream?: string }).filter(({ msg }) => msg === 'the program wrote a line that is no message');
    assert.deepEqual(warned.map(({ line }) => line), ['warning: something about [redacted]', '{"not": "ours"}', '[1]']);
  });

  test('a full standard error is drained; a few lines of it reach the log, without the key (P2)', async (t) => {
    const { ada, proxy } = await twoPeople(t);
    assert.equal(textOf(await ada.call('complain')), 'complained');
    const said = proxy.log.map((line) => JSON.parse(line) as { msg: string; line?: string }).filter(({ msg }) => msg === 'the program said');
    assert.equal(said[0]?.line, 'using [redacted]');
    assert.equal(said.length, 20);
  });
});
