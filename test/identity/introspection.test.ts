/** What the issuer is asked about tokens that it must judge (RFC 7662), and what it is not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createIntrospection } from '../../src/identity/introspection.ts';
import { createIssuer } from '../../src/identity/issuer.ts';

/** An issuer that answers nothing about a token before it is told to. */
async function startIssuer(t: TestContext) {
  const held: ServerResponse[] = [];
  const arrived = new EventTarget();
  let asked = 0;
  const server = createServer((request, response) => {
    const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    response.setHeader('content-type', 'application/json');
    if (request.url?.startsWith('/.well-known/') === true) {
      response.end(JSON.stringify({ issuer, introspection_endpoint: `${issuer}/introspect` }));
      return;
    }
    asked += 1;
    held.push(response);
    request.resume();
    arrived.dispatchEvent(new Event('asked'));
  }).listen(0, '127.0.0.1');
  t.after(() => { server.closeAllConnections(); server.close(); });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    issuer: createIssuer({ issuer: `http://127.0.0.1:${String(port)}`, client: { clientId: 'gate', clientSecret: 's' } }, (url, init) => fetch(url, init as RequestInit), Date.now),
    asked: () => asked,
    async untilAsked(count: number): Promise<void> {
      while (asked < count) await once(arrived, 'asked');
    },
    answer(word: Readonly<Record<string, unknown>>): void {
      for (const response of held.splice(0)) response.end(JSON.stringify(word));
    },
  };
}

const inactive = { ok: false, error: { fault: 'invalid', why: 'not active' } };
const noRoom = { ok: false, error: { fault: 'unavailable', why: 'too many tokens are asked about already' } };

test('calls that come together with one token are one question, and a token that was not active is asked about again after 30 s', async (t) => {
  const issuer = await startIssuer(t);
  let time = 1_000_000;
  const introspect = createIntrospection(issuer.issuer, () => time);
  const together = Promise.all(Array.from({ length: 50 }, () => introspect('junk', '10.0.0.1')));
  await issuer.untilAsked(1);
  issuer.answer({ active: false });
  assert.deepEqual(await together, Array(50).fill(inactive));
  assert.deepEqual(await introspect('junk', '10.0.0.2'), inactive);
  time += 29_999;
  assert.deepEqual(await introspect('junk', '10.0.0.1'), inactive);
  assert.equal(issuer.asked(), 1);
  time += 2;
  const again = introspect('junk', '10.0.0.1');
  await issuer.untilAsked(2);
  issuer.answer({ active: true, sub: 'ada' });
  assert.equal((await again).ok, true);
});

test('whoever floods with tokens has 20 asked about at once, and leaves room for other addresses, up to 100 in all', async (t) => {
  const issuer = await startIssuer(t);
  const introspect = createIntrospection(issuer.issuer, Date.now);
  const flood = (address: string, count: number) => Array.from({ length: count }, (_one, at) => introspect(`${address}-${String(at)}`, address));
  const first = flood('10.0.0.1', 1_000);
  await issuer.untilAsked(20);
  assert.deepEqual(await first[999], noRoom);
  const others = [2, 3, 4, 5].map((host) => flood(`10.0.0.${String(host)}`, 20)).flat();
  await issuer.untilAsked(100);
  assert.deepEqual(await introspect('hers', '10.0.0.9'), noRoom);
  assert.equal(issuer.asked(), 100);
  issuer.answer({ active: false });
  assert.deepEqual(await others[79], inactive);
  await Promise.all(first);
  const hers = introspect('hers', '10.0.0.9');
  await issuer.untilAsked(101);
  issuer.answer({ active: true, sub: 'ada' });
  assert.equal((await hers).ok, true);
});
