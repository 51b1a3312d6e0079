import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChildServer } from '../../src/operate/child-server.ts';

const ready = /^ready on (\d+)$/;

function node(script: string, startWithinMs = 20_000) {
  return { command: process.execPath, args: ['-e', script], env: {}, ready, startWithinMs };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a child is handed over after its ready line, on either output, and is gone after close', async () => {
  for (const output of ['log', 'error']) {
    const child = await startChildServer(node(`console.${output}('ready on 17'); setInterval(() => {}, 1000)`));
    assert.equal(child.ready[1], '17');
    assert.equal(isAlive(child.pid), true);
    await child.close();
    assert.equal(isAlive(child.pid), false);
    await child.close();
  }
});

test('a child that ends before it is ready is an error with its last words', async () => {
  await assert.rejects(startChildServer(node(`console.error('no such thing'); process.exit(3)`)), {
    message: /ended \(3\) before it was ready\n {2}no such thing$/,
  });
});

test('a child that stays silent is given up and ended', async () => {
  await assert.rejects(startChildServer(node('setInterval(() => {}, 1000)', 50)), { message: /not ready after 50 ms$/ });
});

test('a command that does not exist is an error that names it', async () => {
  const options = { ...node(''), command: '/no/such/command' };
  await assert.rejects(startChildServer(options), { message: /^\/no\/such\/command .*ENOENT/ });
});

test('a child sees the environment that it was given and nothing else', async () => {
  const child = await startChildServer({
    ...node(`console.log('ready on ' + process.env.ONLY + (process.env.PATH ?? '')); setInterval(() => {}, 1000)`),
    env: { ONLY: '7' },
  });
  await child.close();
  assert.equal(child.ready[1], '7');
});
