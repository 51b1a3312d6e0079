/** K3 and A18: nothing that the proxy says, on any listener or in its log, quotes the file's secrets or a person's, whatever fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../src/operate/child-server.ts';
import { key, startGateway } from '../kit/gateway.ts';
import { connect, linkIn, provide, send, type Answer } from '../kit/mcp-client.ts';
import { mcpServer } from '../kit/mcp-server.ts';
import { planted } from '../kit/planted.ts';
import { CUT, type Reply } from '../kit/recorder.ts';

const secrets = { OPERATOR: planted('operator-canary-1c9e'), QUERY: planted('query-canary-77aa'), VAULT: planted(Buffer.alloc(32, 'vault-canary').toString('base64')) };

test('errors, pages and the admin listener show none of the stored configuration, and no key (K3, A18)', async (t) => {
  const admin = await freePort();
  const { url, proxy, upstream } = await startGateway(t, {
    upstream: mcpServer({ sessions: false }),
    env: secrets,
    file: `
server: { listen: "\${LISTEN}", admin: "127.0.0.1:${admin}", drain: 1s }
vault: { store: sqlite:./elicitgate.db, keys: ["\${VAULT}"] }
log: { level: trace }
upstreams: { main: { url: "\${UPSTREAM}?token=\${QUERY}", headers: { X-Operator: "\${OPERATOR}" }, rules: [{ tools: [paid], requires: [key] }] } }`,
  });
  const said: Answer[] = [];
  const client = await connect(url);
  const asked = await client.call('paid');
  said.push(client.opened, asked, await send(linkIn(asked.text), { method: 'GET' }));
  await provide(client, 'paid', { token: key });
  const failures: Reply[] = [
    { status: 500, headers: { 'content-type': 'text/plain' }, body: `stack trace ${key}` },
    { headers: { 'content-type': 'application/json' }, body: ['{', CUT] },
    { status: 302, headers: { location: `https://elsewhere.example/?key=${key}` } },
    { headers: { 'content-encoding': key, 'content-type': 'application/json' }, body: '{}' },
    { status: 400, headers: { 'content-type': 'application/json' }, body: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"bad key ${key}"}}` },
    { headers: { 'content-type': `text/${key}` }, body: key },
    { status: 401, headers: { 'www-authenticate': `Bearer realm="${key}"` }, body: key }, // after this the key counts as bad
  ];
  for (const failure of failures) {
    upstream.setBehaviour(() => failure);
    said.push(await client.call('paid'), await client.call('free'), await client.bare('GET'), await client.bare('DELETE'), await client.post('{'));
  }
  await upstream.close();
  said.push(await client.call('paid'));
  for (const path of ['/healthz', '/readyz', '/metrics', '/', '/config', '/debug']) said.push(await send(`http://127.0.0.1:${admin}${path}`, { method: 'GET' }));
  const everything = [...said.map(({ rawHeaders, text }) => [...rawHeaders, text].join('\n')), ...proxy.log, JSON.stringify(proxy.audit)].join('\n');
  for (const [name, canary] of Object.entries({ ...secrets, KEY: key })) {
    for (const spelling of [canary, Buffer.from(canary).toString('base64'), Buffer.from(canary).toString('hex'), encodeURIComponent(canary)]) {
      assert.equal(everything.includes(spelling), false, name);
    }
  }
});
