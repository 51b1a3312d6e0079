/**
 * A person's browser without a browser: keeps cookies as browsers do for one machine (a name is one
 * cookie, whatever the port), follows redirects, fills in forms. What only a real browser does (CSP,
 * Sec-Fetch, rendering) is tested in Chromium.
 */
import assert from 'node:assert/strict';

export interface Opened {
  readonly status: number;
  readonly url: string;
  readonly html: string;
  readonly headers: Headers;
  /** Addresses of the answers on the way, the first that was asked for first. */
  readonly way: readonly string[];
}

export interface WebVisitor {
  /** By name. */
  readonly cookies: Map<string, string>;
  /** One answer, not followed. */
  readonly ask: (url: string, init?: RequestInit) => Promise<Opened>;
  /** Follows redirects to the end. */
  readonly open: (url: string, headers?: Readonly<Record<string, string>>) => Promise<Opened>;
  /** Sends the first form of a page that has an input of this name, with what it holds. */
  readonly submit: (page: Opened, fields: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) => Promise<Opened>;
  /** Opens an address and logs in where the provider asks to. */
  readonly openAs: (person: string, url: string) => Promise<Opened>;
  /** The same up to where the provider sends her back: the address of the callback, not opened. */
  readonly callbackFor: (person: string, url: string) => Promise<string>;
}

export function createWebVisitor(): WebVisitor {
  const cookies = new Map<string, string>();

  async function ask(url: string, init: RequestInit = {}): Promise<Opened> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string> | undefined) } });
    for (const line of response.headers.getSetCookie()) keep(line);
    return { status: response.status, url, html: await response.text(), headers: response.headers, way: [url] };
  }
  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const isGone = value === '' || attributes.some((one) => /^\s*max-age=0$/i.test(one) || /^\s*expires=Thu, 01 Jan 1970/i.test(one));
    if (isGone) cookies.delete(name);
    else cookies.set(name, value);
  }
  async function follow(answer: Opened, isEnd: (url: URL) => boolean = () => false): Promise<Opened> {
    // A page whose script sends its form at once is one more way to be sent on.
    if (answer.html.includes('.submit()')) return follow(await send(answer, {}), isEnd);
    const location = answer.headers.get('location');
    if (location === null || answer.status < 300 || answer.status >= 400) return answer;
    const target = new URL(location, answer.url);
    if (isEnd(target)) return answer;
    const next = await ask(target.href);
    return follow({ ...next, way: [...answer.way, ...next.way] }, isEnd);
  }
  const open: WebVisitor['open'] = async (url, headers = {}) => follow(await ask(url, { headers }));
  const submit: WebVisitor['submit'] = async (page, fields, headers = {}) => follow(await send(page, fields, headers));
  const send: WebVisitor['submit'] = async (page, fields, headers = {}) => {
    const form = /<form[^>]*>[\s\S]*?<\/form>/.exec(page.html)?.[0];
    assert.ok(form, `no form on ${page.url}: ${page.html}`);
    const action = unescape(/action="([^"]*)"/.exec(form)?.[1] ?? '');
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescape(value)] as const);
    const url = action === '' ? page.url : new URL(action, page.url).href;
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    return ask(url, { method: 'POST', body, headers: { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin', ...headers } });
  };
  return {
    cookies,
    ask,
    open,
    submit,
    async openAs(person, url) {
      const page = await open(url);
      if (!page.html.includes('name="login"')) return page;
      return submit(page, { login: person, password: 'x' });
    },
    async callbackFor(person, url) {
      const isCallback = (target: URL): boolean => target.pathname.endsWith('/auth/callback');
      let page = await follow(await ask(url), isCallback);
      if (page.html.includes('name="login"')) page = await follow(await send(page, { login: person, password: 'x' }), isCallback);
      return new URL(page.headers.get('location') ?? '', page.url).href;
    },
  };
}

function unescape(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
