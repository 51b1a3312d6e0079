/** One of every page, filled with texts that try to break out of their place or out of the layout. */
import { renderAway, renderBack, renderPartly } from '../../src/pages/oauth-views.ts';
import { renderAccount, renderConsent, renderLoginProblem, renderSignedOut, renderWrongPerson } from '../../src/pages/person-views.ts';
import { renderAlreadyDone, renderDeclined, renderDone, renderEntry, renderExpired } from '../../src/pages/views.ts';
import type { Entry, Frame } from '../../src/pages/views.ts';
import { sampleEntryWithProblems, sampleFrame, sampleRows } from './samples.ts';

export const hostileTexts = {
  'a closed attribute and a script': `"><script>document.title='broken'</script>`,
  'a closed title': `</title></textarea></style><img src=x onerror=alert(1)>`,
  'an event handler in quotes': `' onfocus='alert(1)' autofocus='" onfocus="alert(2)`,
  'a template tag': '<%= it.csrf %><%~ process %>${1+1}{{csrf}}',
  'entities and odd characters': '&lt;script&gt; &quot; \u0000\u202etxt.exe\u2028 \ud800 🔑🏳️‍🌈 密钥 กุญแจ مفتاح',
  'a very long word': 'W'.repeat(400),
} as const;

/** A frame with the same text in every place that the outside fills. */
export function hostileFrame(text: string, language = 'en'): Frame {
  const frame = sampleFrame(language);
  return {
    ...frame,
    siteName: text,
    account: text,
    switchUrl: text,
    accountUrl: text,
    logoUrl: text,
    support: `https://example.com/${text}`,
    links: [{ title: text, url: `https://example.com/?q=${text}` }],
    languages: [...frame.languages, { code: text, name: text, href: `?lang=${text}` }],
  };
}

/** An entry page with the same text in every place that the outside fills. */
export function hostileEntry(text: string): Entry {
  return {
    server: text,
    client: text,
    title: text,
    description: text,
    help: `https://example.com/${text}`,
    purpose: text,
    storedFor: text,
    destination: text,
    fields: sampleEntryWithProblems.fields.map((field) => ({ ...field, name: text, label: text, hint: text, value: text })),
    action: `/connect/${text}`,
    csrf: text,
    replaces: true,
  };
}

/** Every page that shows a text from outside, with this text in all its places. */
export function hostilePages(text: string): Readonly<Record<string, string>> {
  const frame = hostileFrame(text);
  const form = { action: text, csrf: text };
  const rows = sampleRows.map((row) => ({
    ...row,
    upstream: text,
    credential: text,
    server: text,
    title: text,
    description: text,
    destination: text,
    clients: [text, text],
  }));
  return {
    entry: renderEntry(frame, hostileEntry(text)),
    away: renderAway(frame, { server: text, client: text, clientId: text, title: text, description: text, purpose: text, storedFor: text, destination: text, provider: 'https://third.example.com', scopes: [text, text], action: text, csrf: text, before: 'narrow' }),
    'back-failed': renderBack(frame, { reason: 'failed', title: text, code: text, retryUrl: text }),
    'back-partly': renderPartly(frame, { title: text, missing: [text], retryUrl: text }),
    done: renderDone(frame, { title: text, client: text, continues: 'by-itself' }),
    declined: renderDeclined(frame, { client: text }),
    expired: renderExpired(frame, { ...form, title: text, canRenew: true }),
    already: renderAlreadyDone(frame, { title: text }),
    account: renderAccount(frame, { ...form, rows, signOut: { action: text } }),
    consent: renderConsent(frame, {
      ...form,
      server: text,
      title: text,
      client: text,
      clientId: text,
      storedFor: text,
      destination: text,
      purpose: text,
      replaceUrl: text,
    }),
    'wrong-person': renderWrongPerson(frame, { account: text, switchUrl: text }),
    'signed-out': renderSignedOut(frame, { loginUrl: text }),
    login: renderLoginProblem(frame, { reason: 'denied', retryUrl: text }),
  };
}
