/** Addresses that are none of the pages: what a browser sees there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../kit/gateway.ts';
import { openPage } from '../kit/proxy.ts';

test('an address that cannot be read is answered by our own page, which does not repeat it', async (t) => {
  const { proxy } = await startGateway(t);
  for (const path of ['/connect/%ff?lang=de', '/%ff-canary', '/connect/%', `/connect/${'a'.repeat(15_000)}`, '/auth/callback/%c0%af?code=canary']) {
    const { status, html, headers } = await openPage(proxy.origin + path);
    assert.equal(status, 404, path);
    assert.match(html, /<h1[^>]*>\s*(?:This link does not work|Dieser Link)/, path);
    assert.doesNotMatch(html, /canary|%ff|FST_/);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.equal(headers.get('cache-control'), 'no-store');
  }
});

test('the root of the pages leads to the account page, unless an upstream is there', async (t) => {
  const { proxy } = await startGateway(t);
  const { status, headers } = await openPage(`${proxy.origin}/`);
  assert.deepEqual([status, headers.get('location')], [303, '/account']);
  const moved = (await startGateway(t, { file: 'server: { listen: "${LISTEN}", admin: false, pagesPath: /pages }' })).proxy;
  assert.deepEqual([(await openPage(`${moved.origin}/pages`)).headers.get('location'), (await openPage(`${moved.origin}/`)).status], ['/pages/account', 404]);
  const taken = (await startGateway(t, { file: 'server: { listen: "${LISTEN}", admin: false, pagesPath: /mcp }' })).proxy;
  assert.equal((await openPage(`${taken.origin}/mcp`)).headers.get('location'), null);
  assert.equal((await openPage(`${taken.origin}/mcp/account`)).status, 200);
});
