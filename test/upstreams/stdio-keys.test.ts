/** A key on its way to a program: tried before it is kept, used for its lists too, refused by it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { linkIn, urlMode } from '../kit/mcp-client.ts';
import { planted } from '../kit/planted.ts';
import { headersOf, startStdioGateway, textOf } from '../kit/stdio-gateway.ts';
import { createWebVisitor } from '../kit/web-visitor.ts';

const good = planted('sk-the-good-one-40d7e1');
const bad = planted('sk-the-bad-one-93ac55');

async function gone(pid: number): Promise<void> {
  while (existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await new Promise((next) => { setImmediate(next); });
}

describe('a key for a program', { concurrency: 2 }, () => {
  test('is tried with a harmless tool in a process of its own before it is stored; a bad one is not, and the page says so', async (t) => {
    const { as, proxy } = await startStdioGateway(t, { tools: '[pid]', credential: 'verify: { tool: check }' });
    const ada = await as('ada', { capabilities: urlMode });
    const web = createWebVisitor();
    const form = await web.open(linkIn((await ada.call('pid')).text), headersOf('ada'));
    const refused = await web.submit(form, { token: bad, action: 'give' }, headersOf('ada'));
    assert.match(refused.html, /This was not accepted/);
    assert.match((await ada.call('pid')).text, /\/connect\//, 'nothing was stored');
    const kept = await web.submit(await web.open(linkIn((await ada.call('pid')).text), headersOf('ada')), { token: good, action: 'give' }, headersOf('ada'));
    assert.equal(kept.status, 200);
    assert.match(readFileSync(`/proc/${textOf(await ada.call('pid'))}/environ`, 'latin1'), new RegExp(`KEY=${good}`));
    assert.deepEqual(proxy.audit.filter(({ audit }) => audit === 'verified').map(({ outcome }) => outcome), ['refused', 'good']);
  });

  test('with attach: always goes to the lists too, and to what no rule protects; nobody else’s lists have it (E7)', async (t) => {
    const { as, give } = await startStdioGateway(t, { args: ['lists-by-key'], tools: '[key]', with: 'attach: always' });
    const [ada, ben] = [await as('ada'), await as('ben')];
    const listsOf = async (client: typeof ada): Promise<string[]> => {
      const answers = await Promise.all(['tools', 'resources', 'prompts'].map((what) => client.post({ jsonrpc: '2.0', id: 1, method: `${what}/list` })));
      return answers.map(({ text }) => /"name":"(with[^"]*)"/.exec(text)?.[1] ?? text);
    };
    assert.deepEqual(await listsOf(ada), ['without a key', 'without a key', 'without a key']);
    await give('ada', ada, 'key', good);
    assert.deepEqual(await listsOf(ada), ['with a key', 'with a key', 'with a key']);
    assert.equal((JSON.parse(textOf(await ada.call('env'))) as Record<string, string>)['KEY'], '[redacted]');
    assert.deepEqual(await listsOf(ben), ['without a key', 'without a key', 'without a key']);
  });

  test('that the program refuses is asked for again by the same call, and the process that has it ends (A13)', async (t) => {
    const { as, give } = await startStdioGateway(t, { with: "rejected: { toolError: 'bad credentials' }" });
    const ada = await as('ada', { capabilities: urlMode });
    await give('ada', ada, 'pid', bad);
    const pid = Number(textOf(await ada.call('pid')));
    const refused = await ada.call('check');
    assert.equal(refused.message.error?.code, -32042);
    await gone(pid);
    await give('ada', ada, 'check', good);
    assert.equal(textOf(await ada.call('check')), 'welcome');
    assert.notEqual(Number(textOf(await ada.call('pid'))), pid);
  });
});
