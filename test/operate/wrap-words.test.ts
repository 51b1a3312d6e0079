/** The words of a wrap's command line: what is wrong with them in one sentence, and what the person calls the server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, keyTitleOf, titleOf, type WrapWords } from '../../src/operate/wrap-words.ts';

const said = (words: readonly string[], more: Partial<WrapWords> = {}) => faultOf({ words, env: [], headers: [], ...more });

test('what is missing or misplaced is said in one sentence that names what to write', () => {
  assert.equal(said([], { env: ['KEY'] }), 'Name the command that runs the server, or the URL of one.');
  assert.equal(said(['npx', 'a-server']), 'Say what the person is to give: --env NAME.');
  assert.equal(said(['https://mcp.example.com/mcp']), 'Say what the person is to give: --header NAME.');
  assert.equal(said(['npx', 'a-server'], { headers: ['X-Key'] }), 'A command takes variables: use --env NAME.');
  assert.equal(said(['https://mcp.example.com/mcp'], { env: ['KEY'] }), 'A server at a URL takes headers: use --header NAME.');
  assert.equal(said(['https://mcp.example.com/mcp', '--header', 'X-Key']), 'Nothing follows the URL: put --header before it.');
  assert.equal(said(['a'], { env: ['1KEY'] }), '“1KEY” is no name for --env.');
  assert.equal(said(['a'], { env: ['KEY'], catalogue: 'c.json' }), 'A command needs no catalogue: it lists its tools with a placeholder for the key.');
  assert.equal(said(['npx', '-y', 'a-server'], { env: ['KEY'] }), undefined);
});

test('a key on the command line is refused and not repeated', () => {
  assert.equal(said(['a'], { env: ['KEY=sk-123'] }), 'Give --env the name alone; the value is asked for on the page.');
  assert.equal(said(['https://mcp.example.com/mcp'], { headers: ['Authorization: Bearer sk-123'] }), 'Give --header the name alone; the value is asked for on the page.');
});

for (const [line, title] of [
  ['npx -y @brave/brave-search-mcp-server', 'brave-search-mcp-server'],
  ['npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio', 'server-everything'],
  ['npx -y server-x@latest --verbose', 'server-x'],
  ['uvx mcp-server-git --repository /srv/code', 'mcp-server-git'],
  ['node /opt/notion/node_modules/@notionhq/notion-mcp-server/dist/index.js', 'notion-mcp-server'],
  ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server', 'github-mcp-server'],
  ['C:\\tools\\weather.exe', 'weather'],
  ['/usr/local/bin/weather.py serve', 'weather'],
  ['https://mcp.example.com/mcp', 'mcp.example.com'],
  ['node', 'node'],
] as const) {
  test(`“${line}” is called ${title}`, () => {
    assert.equal(titleOf({ words: line.split(' '), env: ['TOKEN'] }), title);
  });
}

test('the key is called after the product, or after the headers of a URL', () => {
  const called = (...words: string[]) => keyTitleOf({ words, env: ['KEY'], headers: ['X-API-Key'] });
  assert.equal(called('npx', '-y', '@brave/brave-search-mcp-server'), 'Brave Search');
  assert.equal(called('uvx', 'mcp-server-git'), 'Git');
  assert.equal(called('mcp-server'), 'mcp-server');
  assert.equal(called('https://mcp.example.com/mcp'), 'X-API-Key');
});
