/** What tests read from a page without a browser. */

/** What a person reads on a page, tags taken away. */
export function readable(html: string): string {
  const [, body = ''] = html.split('<body>');
  return body
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

export function titleOf(html: string): string | undefined {
  return /<title>(.*)<\/title>/.exec(html)?.[1];
}

export function headingOf(html: string): string | undefined {
  return /<h1>(.*)<\/h1>/.exec(html)?.[1];
}
