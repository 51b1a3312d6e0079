import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, fileOf, problemsOf } from './load-text.ts';

const credentials = `
  github: { kind: apiKey, fields: [{ name: token }], inject: { headers: { Authorization: "Bearer {token}" } } }
  jira: { kind: apiKey, fields: [{ name: token }], inject: { headers: { X-Jira: "{token}" } } }
  gitlab: { kind: apiKey, fields: [{ name: token }], inject: { headers: { authorization: "Bearer {token}" } } }`;

/** The upstreams begin in line 9. */
function withUpstreams(upstreams: string, more: Readonly<Record<string, string>> = {}): string {
  return fileOf({ credentials, upstreams: `\n${upstreams}`, ...more });
}

test('An upstream answers at its own path, by default /{name}/mcp', (context) => {
  const config = configOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1/mcp" }\n  b: { url: "http://127.0.0.1:2", path: /tools/ }'));
  assert.deepEqual([config.upstreams['a']?.path, config.upstreams['b']?.path], ['/a/mcp', '/tools']);
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1" }\n  b: { url: "http://127.0.0.1:2",\n    path: /a/mcp }')), [
    '11:11 upstreams.b.path: /a/mcp, the path of a; a path of its own',
  ]);
});

test('No upstream hides the pages', (context) => {
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1", path: /connect/mcp }')), [
    '9:41 upstreams.a.path: /connect/mcp, below /connect, where Elicitgate’s own pages are; another path, or another server.pagesPath',
  ]);
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1", path: /connect/mcp }', { server: '{ pagesPath: /me }' })), []);
  assert.deepEqual(problemsOf(context, withUpstreams('  account: { url: "http://127.0.0.1:1" }')), [
    '9:3 upstreams.account.path: /account/mcp, below /account, where Elicitgate’s own pages are; another path, or another server.pagesPath',
  ]);
});

test('There is at least one upstream, and none is called like what all share', (context) => {
  assert.deepEqual(problemsOf(context, fileOf({ upstreams: '{}' })), ['5:1 upstreams: an empty map; at least one upstream']);
  assert.deepEqual(problemsOf(context, withUpstreams('  shared: { url: "http://127.0.0.1:1" }')), [
    '9:3 upstreams.shared: shared, which means "for all upstreams"; another name',
  ]);
});

test('A rule requires credentials that exist, and a near miss is suggested', (context) => {
  const rules = '[{ tools: [x], requires: [githb, { anyOf: [jira, nothing-like-it] }, { credential: jira, scopes: [a] }] }]';
  assert.deepEqual(problemsOf(context, withUpstreams(`  a: { url: "http://127.0.0.1:1",\n    rules: ${rules} }`)), [
    '10:38 upstreams.a.rules[0].requires[0]: githb, no such credential; did you mean github?',
    '10:61 upstreams.a.rules[0].requires[1].anyOf[1]: nothing-like-it, no such credential; one of github, jira, gitlab',
    '10:95 upstreams.a.rules[0].requires[2].credential: jira, a credential of kind apiKey; a credential of kind oauth',
  ]);
});

test('A credential that is wrong itself is not said to be missing', (context) => {
  const file = fileOf({ credentials: '{ k: { kind: apiKey, fields: [{ name: token }], injekt: {} } }' });
  assert.deepEqual(problemsOf(context, file), ['4:62 credentials.k.injekt: an unknown key; did you mean inject?']);
});

test('A rule matches something', (context) => {
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1",\n    rules: [{ requires: [jira] }] }')), [
    '10:13 upstreams.a.rules[0]: a rule that matches nothing; tools, resources or prompts, e.g. tools: ["*"]',
  ]);
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1",\n    rules: [{ tools: ["!x", y], requires: [jira] }] }')), [
    '10:15 upstreams.a.rules[0].tools: a list; a list that begins with what it contains, e.g. ["*", "!internal_*"]: a leading ! only takes names out again',
  ]);
});

test('Two credentials that one call needs are put into two headers', (context) => {
  const upstream = (more: string) => withUpstreams(`  a: { url: "http://127.0.0.1:1", ${more}\n    rules: [{ tools: [x], requires: [github, gitlab] }] }`);
  assert.deepEqual(problemsOf(context, upstream('')), [
    '10:46 upstreams.a.rules[0].requires[1]: gitlab and github both inject the header authorization; a header for each, for instance through inject of this upstream',
  ]);
  assert.deepEqual(problemsOf(context, upstream('inject: { gitlab: { headers: { X-Gitlab: "{token}" } } },')), []);
  const either = withUpstreams('  a: { url: "http://127.0.0.1:1", rules: [{ tools: [x], requires: [{ anyOf: [github, gitlab] }] }] }');
  assert.deepEqual(problemsOf(context, either), []);
});

test('So are those of two rules that can match one call (A11)', (context) => {
  const both = (github: string, gitlab: string) =>
    problemsOf(context, withUpstreams(`  a: { url: "http://127.0.0.1:1",\n    rules: [{ ${github}, requires: [github] },\n      { ${gitlab}, requires: [gitlab, jira] }] }`)).map((problem) => problem.replace(/^.*?requires/, 'requires'));
  const clash = ['requires[0]: gitlab and github both inject the header authorization; a header for each, for instance through inject of this upstream'];
  for (const [github, gitlab] of [
    ['tools: [x, y]', 'tools: [y, z]'],
    ['tools: [get_x]', 'tools: ["get_*"]'],
    ['tools: ["get_*"]', 'tools: [set_x, get_x]'],
    ['tools: ["get_*"]', 'tools: ["get_i*"]'],
    ['tools: ["get_*"]', 'tools: ["*"]'],
    ['tools: ["get_*"]', 'tools: ["?et_x"]'],
    ['tools: ["get_*", "!get_x"]', 'tools: ["*_x"]'],
    ['tools: [get_x, "a*"]', 'tools: ["get_*"]'],
    ['resources: ["file://*"]', 'resources: ["file:///a"], tools: [x]'],
    ['prompts: [p]', 'prompts: [p]'],
    ['tools: [x], when: { arguments: { a: 1 } }', 'tools: [x], unless: { arguments: { a: 1 } }'],
  ] as const) assert.deepEqual(both(github, gitlab), clash, `${github} ${gitlab}`);
  for (const [github, gitlab] of [
    ['tools: [x]', 'tools: [y]'],
    ['tools: [X]', 'tools: [x]'],
    ['tools: ["get_*"]', 'tools: ["set_*"]'],
    ['tools: ["get_*", "!get_x"]', 'tools: [get_x]'],
    ['tools: [get, "a*"]', 'tools: ["get_*"]'],
    ['tools: [x]', 'prompts: [x]'],
  ] as const) assert.deepEqual(both(github, gitlab), [], `${github} ${gitlab}`);
});

test('With attach: always every two credentials of the upstream are put into two headers (A11)', (context) => {
  const upstream = (requires: string) => withUpstreams(`  a: { url: "http://127.0.0.1:1", attach: always,\n    rules: [{ tools: [x], requires: [github] }, { tools: [y], requires: ${requires} }] }`);
  const clash = 'gitlab and github both inject the header authorization; a header for each, for instance through inject of this upstream';
  assert.deepEqual(problemsOf(context, upstream('[gitlab]')), [`10:74 upstreams.a.rules[1].requires[0]: ${clash}`]);
  assert.deepEqual(problemsOf(context, upstream('[{ anyOf: [github, gitlab] }]')), [`10:92 upstreams.a.rules[1].requires[0].anyOf[1]: ${clash}`]);
  assert.deepEqual(problemsOf(context, upstream('[github, jira]')), []);
});

test('One header in two spellings is one header (A11)', (context) => {
  const spelled = '{ a: { kind: apiKey, fields: [{ name: token }], inject: { headers: { X-Api_Key: "{token}" } } }, b: { kind: apiKey, fields: [{ name: token }], inject: { headers: { x_api-key: "{token}" } } } }';
  assert.equal(problemsOf(context, fileOf({ credentials: spelled, upstreams: '{ u: { url: "http://127.0.0.1:1", rules: [{ tools: [x], requires: [a, b] }] } }' })).length, 1);
});

test('The client’s token, headers of the connection and injected headers are not let through, in any spelling', (context) => {
  const file = withUpstreams('  a: { url: "http://127.0.0.1:1",\n    forwardHeaders: [AUTHORIZATION, Cookie, Connection, x_jira, X-Team] }');
  assert.deepEqual(problemsOf(context, file), [
    '10:22 upstreams.a.forwardHeaders[0]: AUTHORIZATION, which is meant for Elicitgate only; another header; the client’s own token never goes upstream',
    '10:37 upstreams.a.forwardHeaders[1]: Cookie, which is meant for Elicitgate only; another header; the client’s own token never goes upstream',
    '10:45 upstreams.a.forwardHeaders[2]: Connection, a header of the connection or of MCP itself; another header',
    '10:57 upstreams.a.forwardHeaders[3]: x_jira, which a credential injects; another header; the client cannot send what the proxy puts in',
  ]);
});

test('Environment and command belong to stdio, addresses to HTTP', (context) => {
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { url: "http://127.0.0.1:1", env: { A: b } }')), [
    '9:35 upstreams.a.env: an unknown key; it belongs to transport: stdio',
  ]);
  assert.deepEqual(problemsOf(context, withUpstreams('  a: { transport: stdio, command: x, url: "http://127.0.0.1:1" }')), [
    '9:38 upstreams.a.url: an unknown key; it belongs to transport: streamable-http',
  ]);
});

test('Several people over stdio need a user of their own or the operator’s word', (context) => {
  const identity = '{ oauth: { issuer: "https://id.example.com", login: { clientId: e } } }';
  const stdio = (more: string) => withUpstreams(`  a: { transport: stdio, command: x${more} }`, { identity });
  assert.deepEqual(problemsOf(context, stdio('')), [
    '9:3 upstreams.a.runAs: missing, in a stdio upstream for several people; { uid, gid } of a user of its own, or trusted: true when the program may see everyone’s secrets',
  ]);
  for (const more of [', trusted: true', ', runAs: { uid: 10001, gid: 10001 }']) assert.deepEqual(problemsOf(context, stdio(more)), []);
  assert.deepEqual(problemsOf(context, stdio(', runAs: { uid: 0, gid: 10001 }')), ['9:52 upstreams.a.runAs.uid: 0; at least 1']);
});

test('Everything wrong in one upstream is told at once, what is wrong by itself and what does not fit', (context) => {
  const file = withUpstreams('  a: { url: "http://127.0.0.1:1", titel: A, timeout: 90d, forwardHeaders: [cookie],\n    rules: [{ tools: [x], requires: [githb] }] }');
  assert.deepEqual(
    problemsOf(context, file).map((problem) => problem.replace(/: .*/, '')),
    ['9:35 upstreams.a.titel', '9:54 upstreams.a.timeout', '9:76 upstreams.a.forwardHeaders[0]', '10:38 upstreams.a.rules[0].requires[0]'],
  );
});
