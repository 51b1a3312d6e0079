/**
 * What the words of `elicitgate wrap` mean: a command or a URL, what is asked for, and what the person calls
 * it. Refuses, with one sentence that says what to write instead, what could not work.
 */

/** A command and its arguments, or one URL, and the NAMEs that were asked for. */
export interface WrapWords {
  readonly words: readonly string[];
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly catalogue?: string;
}

const envName = /^[A-Za-z_]\w*$/;
const headerName = /^[A-Za-z0-9-]+$/;
/** What only fetches or runs the server; its name comes after these. */
const launchers = new Set(['npx', 'npm', 'exec', 'pnpm', 'dlx', 'yarn', 'bun', 'bunx', 'deno', 'node', 'tsx', 'python', 'python3', 'uv', 'uvx', 'pipx', 'run', 'docker', 'podman', 'env', 'sh', 'cmd']);

/** @returns one sentence on what is wrong, or nothing */
export function faultOf({ env, headers, words, catalogue }: WrapWords): string | undefined {
  const [first, second] = words;
  if (first === undefined) return 'Name the command that runs the server, or the URL of one.';
  const isUrl = urlOf(words) !== undefined;
  if (!isUrl && second !== undefined && urlOf([first]) !== undefined) return `Nothing follows the URL: put ${second} before it.`;
  const [asked, other, name, isRight] = isUrl ? [headers, env, 'header', headerName] as const : [env, headers, 'env', envName] as const;
  if (other.length > 0) return isUrl ? 'A server at a URL takes headers: use --header NAME.' : 'A command takes variables: use --env NAME.';
  if (asked.length === 0) return `Say what the person is to give: --${name} NAME.`;
  const valued = asked.find((one) => /[=:]/.test(one));
  if (valued !== undefined) return `Give --${name} the name alone; the value is asked for on the page.`;
  const wrong = asked.find((one) => !isRight.test(one));
  if (wrong !== undefined) return `“${wrong}” is no name for --${name}.`;
  return catalogue !== undefined && !isUrl ? 'A command needs no catalogue: it lists its tools with a placeholder for the key.' : undefined;
}

/** @returns the URL, where the words are one */
export function urlOf(words: readonly string[]): URL | undefined {
  const url = words.length === 1 ? URL.parse(words[0] ?? '') : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** What a person calls it: the host, or the first word that names no launcher, without path, scope, version and ending. */
export function titleOf({ words, env }: Pick<WrapWords, 'words' | 'env'>): string {
  const url = urlOf(words);
  if (url !== undefined) return url.hostname;
  const names = words.filter((word) => /[A-Za-z]/.test(word) && !word.startsWith('-') && !word.includes('=') && !env.includes(word)).map(nameIn);
  return names.find((name) => !launchers.has(name)) ?? names[0] ?? 'server';
}

/** What its key is called: the product, where the server's name has it (`brave-search-mcp-server`: Brave Search); at a URL, the headers. */
export function keyTitleOf(words: Pick<WrapWords, 'words' | 'env' | 'headers'>): string {
  if (urlOf(words.words) !== undefined) return words.headers.join(', ');
  const title = titleOf(words);
  const product = title.split(/[-_ ]/).filter((part) => part !== '' && !/^(?:mcp|server)$/i.test(part)).map((part) => `${part.charAt(0).toUpperCase()}${part.slice(1)}`);
  return product.length === 0 ? title : product.join(' ');
}

/** `/opt/@brave/brave-search@1.2/dist/index.js` is called `brave-search`. */
function nameIn(word: string): string {
  const parts = word.split(/[/\\]/).map((part, at) => part.replace(at === 0 && part.startsWith('@') ? /(?!)/ : /(?<=.)@[^@]*$/, '').replace(/\.(?:[cm]?[jt]s|py|exe|cmd)$/, '')).filter((part) => part !== '');
  return parts.findLast((part) => !/^(?:index|main|server|cli|dist|build|out|src|bin|lib)$/.test(part)) ?? parts.at(-1) ?? 'server';
}
