/** One of every page, filled with texts that try to break out of their place or out of the layout. */
import type { Entry, Frame } from '../../src/pages/views.ts';
import { sampleEntryWithProblems, sampleFrame } from './samples.ts';

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
