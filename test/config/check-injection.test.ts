import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileOf, problemsOf } from './load-text.ts';

function withInject(inject: string, upstream = 'url: "http://127.0.0.1:3000/mcp"'): string {
  return fileOf({
    credentials: `\n  c: { kind: apiKey, fields: [{ name: token }], inject:\n    ${inject} }`,
    upstreams: `\n  u: { ${upstream}, rules: [{ tools: ["*"],\n    requires: [c] }] }`,
  });
}

test('A template names fields that the credential has', (context) => {
  assert.deepEqual(problemsOf(context, withInject('{ headers: { X-Key: "{base64(user:token)}" } }')), [
    '6:25 credentials.c.inject.headers.X-Key: {user}, an unknown field; a template of {token}',
  ]);
  assert.deepEqual(problemsOf(context, withInject('{ headers: { X-Key: "{token" } }')), [
    '6:25 credentials.c.inject.headers.X-Key: [set]; a template such as "Bearer {token}", "Basic {base64(user:password)}" or "{json(token)}", with {{ and }} for literal braces',
  ]);
});

test('A connected account offers its tokens, a payment its receipt', (context) => {
  const file = fileOf({
    credentials: '\n  o: { kind: oauth, discover: upstream, inject: { headers: { A: "{access_token}", B: "{refresh_token}" } } }',
    upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp" } }',
  });
  assert.deepEqual(problemsOf(context, file), [
    '5:86 credentials.o.inject.headers.B: {refresh_token}, an unknown field; a template of {access_token}, {id_token}, {token_type}, {scope}',
  ]);
});

test('Headers of the connection and of MCP itself are not injected, in any spelling', (context) => {
  for (const name of ['Host', 'connection', 'Transfer_Encoding', 'TE', 'Mcp-Session-Id', 'mcp_name', 'Content-Type', 'content_length', 'Accept', 'Last-Event-ID']) {
    assert.deepEqual(problemsOf(context, withInject(`{ headers: { ${name}: "{token}" } }`)), [
      `6:${20 + name.length} credentials.c.inject.headers.${name}: ${name}, a header of the connection or of MCP itself; another header`,
    ]);
  }
});

test('A header is injected once, whatever its spelling, under a name and with a value that HTTP allows', (context) => {
  assert.deepEqual(problemsOf(context, withInject('{ headers: { X-Key: "{token}", x_key: "{token}" } }')), [
    '6:43 credentials.c.inject.headers.x_key: x_key, the same header as X-Key; each header once',
  ]);
  assert.deepEqual(problemsOf(context, withInject('{ headers: { "X Key": "{token}", X-Two: "a\\r\\n{token}" } }')), [
    '6:18 credentials.c.inject.headers.X Key: a name that cannot stand here; a header name: letters, digits and - without spaces',
    '6:45 credentials.c.inject.headers.X-Two: [set]; a header value in one line of Latin letters',
  ]);
});

test('What a rule asks for reaches the upstream', (context) => {
  assert.deepEqual(problemsOf(context, withInject('{}')), [
    '9:5 upstreams.u.rules[0].requires: c is asked for, but nothing of it reaches u; an entry in credentials.c.inject: headers, query, arguments, meta (streamable-http)',
  ]);
  assert.deepEqual(problemsOf(context, withInject('{ env: { KEY: "{token}" } }')), [
    '9:5 upstreams.u.rules[0].requires: c is asked for, but nothing of it reaches u; an entry in credentials.c.inject: headers, query, arguments, meta (streamable-http)',
  ]);
  assert.deepEqual(problemsOf(context, withInject('{ headers: { X-Key: "{token}" } }', 'transport: stdio, command: x')), [
    '9:5 upstreams.u.rules[0].requires: c is asked for, but nothing of it reaches u; an entry in credentials.c.inject: env, arguments, meta (stdio)',
  ]);
  assert.deepEqual(problemsOf(context, withInject('{ env: { KEY: "{token}" } }', 'transport: stdio, command: x')), []);
});

test('An upstream’s own way to inject names a credential and, over HTTP, no environment', (context) => {
  const upstream = 'url: "http://127.0.0.1:3000/mcp", inject: { d: { headers: { A: b } }, c: { env: { KEY: "{token}" }, headers: { X-Other: "{tokn}" } } }';
  assert.deepEqual(problemsOf(context, withInject('{}', upstream)), [
    '8:52 upstreams.u.inject.d: no such credential; one of c',
    '8:83 upstreams.u.inject.c.env: env for a streamable-http upstream; headers, query, arguments or meta; env is for stdio',
    '8:128 upstreams.u.inject.c.headers.X-Other: {tokn}, an unknown field; a template of {token}',
  ]);
});

test('A request that verifies may accept what it likes, but is no other connection', (context) => {
  const verify = (headers: string) =>
    fileOf({
      credentials: `\n  c: { kind: apiKey, fields: [{ name: token }], verify: { url: "https://api.example.com",\n    headers: ${headers} } }`,
      upstreams: '{ u: { url: "http://127.0.0.1:3000/mcp" } }',
    });
  assert.deepEqual(problemsOf(context, verify('{ Accept: application/json, Authorization: "Bearer {token}" }')), []);
  assert.deepEqual(problemsOf(context, verify('{ Host: a, X: "{other}" }')), [
    '6:22 credentials.c.verify.headers.Host: Host, a header of the connection or of MCP itself; another header',
    '6:28 credentials.c.verify.headers.X: {other}, an unknown field; a template of {token}',
  ]);
});

test('Arguments are dotted paths, none within another, and _meta keeps the keys of MCP', (context) => {
  assert.deepEqual(problemsOf(context, withInject('{ arguments: { auth.token: "{token}", auth: "{token}", other: "{token}" } }')), [
    '6:32 credentials.c.inject.arguments.auth.token: auth.token, which lies within auth; one of them',
  ]);
  for (const path of ['a..b', '.a', 'a.__proto__']) {
    assert.deepEqual(problemsOf(context, withInject(`{ arguments: { ${path}: "{token}" } }`)).map((one) => one.replace(/^.*?: /, '')), [`${path}, no path of an argument; keys joined by dots, such as auth.token`]);
  }
  for (const key of ['progressToken', 'io.modelcontextprotocol/clientInfo', 'modelcontextprotocol.io/x']) {
    assert.deepEqual(problemsOf(context, withInject(`{ meta: { ${key}: "{token}" } }`)).map((one) => one.replace(/^.*?: /, '')), [`${key}, a key of MCP itself; a key of the upstream’s own`]);
  }
  assert.deepEqual(problemsOf(context, withInject('{ meta: { example.com/key: "{token}" }, arguments: { auth.token: "{token}", author: "{token}" } }')), []);
});

test('Two credentials of one call share no query parameter, argument, key of _meta or variable either (A11)', (context) => {
  const clash = (one: string, other: string, upstream = 'url: "http://127.0.0.1:3000/mcp"') =>
    problemsOf(context, fileOf({
      credentials: `\n  one: { kind: apiKey, fields: [{ name: t }], inject: { ${one} } }\n  two: { kind: apiKey, fields: [{ name: t }], inject: { ${other} } }`,
      upstreams: `\n  u: { ${upstream}, rules: [{ tools: [x], requires: [one, two] }] }`,
    })).map((problem) => problem.replace(/^.*?: /, ''));
  const forEach = (kind: string) => `a ${kind} for each, for instance through inject of this upstream`;
  assert.deepEqual(clash('query: { k: "{t}" }', 'query: { k: "{t}" }'), [`two and one both inject the query parameter k; ${forEach('query parameter')}`]);
  assert.deepEqual(clash('query: { k: "{t}" }', 'query: { K: "{t}" }'), []);
  assert.deepEqual(clash('meta: { k: "{t}" }', 'meta: { k: "{t}" }'), [`two and one both inject _meta.k; ${forEach('key of _meta')}`]);
  assert.deepEqual(clash('arguments: { a: "{t}" }', 'arguments: { a.b: "{t}" }'), [`two and one both inject the argument a.b; ${forEach('tool argument')}`]);
  assert.deepEqual(clash('arguments: { a: "{t}" }', 'arguments: { ab: "{t}" }, meta: { a: "{t}" }'), []);
  assert.deepEqual(clash('env: { K: "{t}" }', 'env: { K: "{t}" }', 'transport: stdio, command: x'), [`two and one both inject the variable K; ${forEach('variable')}`]);
});

test('What is put into tool arguments only is asked for by rules for tools only', (context) => {
  const file = (inject: string, rule: string) =>
    fileOf({ credentials: `{ c: { kind: apiKey, fields: [{ name: t }], inject: { ${inject} } } }`, upstreams: `{ u: { url: "http://127.0.0.1:1", rules: [{ ${rule}, requires: [c] }] } }` });
  for (const rule of ['resources: ["file://*"]', 'prompts: [p], tools: [x]']) {
    assert.deepEqual(problemsOf(context, file('arguments: { a: "{t}" }', rule)).map((one) => one.replace(/^\S+ /, '')), [
      'upstreams.u.rules[0].requires: c is put into tool arguments only, and resources and prompts have none; headers, query or meta beside arguments, or a rule for tools',
    ]);
    assert.deepEqual(problemsOf(context, file('arguments: { a: "{t}" }, headers: { X-Key: "{t}" }', rule)), []);
  }
  assert.deepEqual(problemsOf(context, file('arguments: { a: "{t}" }', 'tools: [x]')), []);
});
