/**
 * A person at a connect page, without a browser: opens the link, reads the form, sends it back with the
 * cookies it was given. The page's looks are tested in Chromium; this is for everything behind it.
 */
export interface ConnectPage {
  readonly status: number;
  readonly html: string;
  /** Posts the form; `fields` under the names that the configuration gives them. */
  readonly submit: (action: 'give' | 'decline' | 'renew', fields?: Readonly<Record<string, string>>) => Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly html: string;
}

/** Opens the link of an elicitation. @param by headers with which a proxy in front says who is there */
export async function openConnectPage(url: string, by: Readonly<Record<string, string>> = {}): Promise<ConnectPage> {
  const response = await fetch(url, { redirect: 'manual', headers: by });
  const html = await response.text();
  const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  return {
    status: response.status,
    html,
    submit: async (action, fields = {}) => {
      const answer = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...by, origin: new URL(url).origin, cookie: cookie.join('; ') },
        body: new URLSearchParams({ csrf: hiddenValue(html, 'csrf'), ...fields, action }),
      });
      return { status: answer.status, html: await answer.text() };
    },
  };
}

function hiddenValue(html: string, name: string): string {
  const input = new RegExp(`<input[^>]*name="${name}"[^>]*>`).exec(html)?.[0] ?? '';
  const value = /value="([^"]*)"/.exec(input)?.[1];
  if (value === undefined) throw new Error(`the page has no hidden field ${name}:\n${html}`);
  return value;
}
