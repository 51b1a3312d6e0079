import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeting } from '../../src/operate/greeting.ts';
import { configOf, fileOf } from '../config/load-text.ts';

test('a person at a terminal is told where it listens, what to type into a client, and where her connections are', (t) => {
  assert.equal(
    greeting(configOf(t, fileOf())),
    `Elicitgate listens on 127.0.0.1:8080. Ctrl-C ends it.
For your MCP client, u: http://127.0.0.1:8080/mcp
What people have connected: http://127.0.0.1:8080/account
`,
  );
  const server = '{ listen: "[::1]:8080", publicUrl: "http://localhost:8080/base", pagesPath: /pages }';
  const upstreams = '{ one: { url: "http://127.0.0.1:3000/mcp" }, two: { url: "http://127.0.0.1:3001/mcp" } }';
  assert.equal(
    greeting(configOf(t, fileOf({ server, upstreams, credentials: undefined }))),
    `Elicitgate listens on [::1]:8080. Ctrl-C ends it.
For your MCP client, one: http://localhost:8080/base/one/mcp
For your MCP client, two: http://localhost:8080/base/two/mcp
What people have connected: http://localhost:8080/base/pages/account
`,
  );
});
