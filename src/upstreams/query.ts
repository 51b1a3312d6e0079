/** Query parameters of a request: added to the address of the file, each in place of one of that name. */

/**
 * @param path with or without a query
 * @param query name, value, name, value …
 */
export function withQuery(path: string, query: readonly string[] | undefined): string {
  if (query === undefined || query.length === 0) return path;
  const at = path.indexOf('?');
  const [before, own] = at === -1 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
  const names = new Set(query.filter((_, index) => index % 2 === 0));
  const kept = own.split('&').filter((part) => part !== '' && !names.has(nameOf(part)));
  const added = [...names].map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(query[query.indexOf(name) + 1] ?? '')}`);
  return `${before}?${[...kept, ...added].join('&')}`;
}

function nameOf(part: string): string {
  return [...new URLSearchParams(part).keys()][0] ?? '';
}
