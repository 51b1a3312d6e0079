/**
 * The one style sheet of all pages, for a configured accent colour. It uses the system's own fonts,
 * follows the light or dark scheme, reads at 320 pixels and at 200 % zoom, and stays usable with forced
 * colours, without motion and with more contrast. Sizes are in rem, so that a person's own text size
 * counts. Nothing in it comes from another origin.
 */
import { paletteFor, parseColour } from './colour.ts';

/** What the accent has to stand out from, lightest use first: cards, the tinted part of cards, the page. */
const schemes = {
  light: { surface: '#ffffff', inset: '#f6f8f7', page: '#eff2f1' },
  dark: { surface: '#1b1f1e', inset: '#212625', page: '#121514' },
} as const;

const neutrals = {
  light: { ink: '#17201d', soft: '#505b57', line: '#d8dedb', edge: '#77837e', alarm: '#b3261e', alarmTint: '#fdf1f0' },
  dark: { ink: '#edf1ef', soft: '#aab5b0', line: '#363d3a', edge: '#85918c', alarm: '#ffb4ab', alarmTint: '#2e2221' },
} as const;

/** A dignified green, for operators who configure no accent. */
export const defaultAccent = '#2f6f4f';

/**
 * @param accent `#rgb` or `#rrggbb`; any colour, the pages stay readable
 * @throws RangeError when it is not written so
 */
export function styleSheet(accent: string): string {
  const colour = parseColour(accent);
  const properties = (scheme: 'light' | 'dark'): string => {
    const { surface, inset, page } = schemes[scheme];
    const palette = paletteFor(colour, [parseColour(surface), parseColour(inset), parseColour(page)]);
    return Object.entries({ ...schemes[scheme], ...neutrals[scheme], ...palette })
      .map(([name, value]) => `  --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${value};`)
      .join('\n');
  };
  return `:root {\n${properties('light')}\n}\n@media (prefers-color-scheme: dark) {\n:root {\n${properties('dark')}\n}\n}\n${rules}`;
}

const rules = `
:root {
  color-scheme: light dark;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  --gap: 1.5rem;
  font-family: var(--sans);
  line-height: 1.5;
  -webkit-text-size-adjust: 100%;
  text-size-adjust: 100%;
}
*, ::before, ::after { box-sizing: border-box; }
body, h1, h2, p, ul, dl, dd { margin: 0; padding: 0; }
p, dd { text-wrap: pretty; }
ul { list-style: none; }
body {
  min-height: 100vh;
  min-height: 100svh;
  display: flex;
  flex-direction: column;
  background: var(--page);
  color: var(--ink);
  overflow-wrap: anywhere;
}

/* Scripts that need their own fonts and more height; Chinese headings break only at spaces and signs. */
[lang]:lang(zh) { --sans: system-ui, -apple-system, "PingFang SC", "Microsoft YaHei UI", "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK SC", sans-serif; line-break: strict; text-autospace: normal; }
[lang]:lang(th) { --sans: system-ui, -apple-system, Thonburi, "Leelawadee UI", "Noto Sans Thai", "Noto Sans Thai UI", Loma, sans-serif; }
[lang]:lang(zh), [lang]:lang(th) { font-family: var(--sans); line-height: 1.7; }
a { color: var(--accent-ink); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent-ink); outline-offset: 2px; border-radius: 0.25rem; }
.icon, .mark, .logo { flex: none; }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

/* The frame: who runs this page, in which language, who is logged in, where to turn. */
.site { width: 100%; max-width: 62rem; margin-inline: auto; padding: 0.75rem 1.25rem; color: var(--soft); font-size: 0.9375rem; }
header.site { display: flex; flex-wrap: wrap; align-items: center; column-gap: var(--gap); }
.brand { flex: 1 1 8rem; display: flex; align-items: center; gap: 0.625rem; min-height: 2.75rem; color: var(--ink); font-size: 1.0625rem; font-weight: 600; }
.mark { width: 1.75rem; height: 1.75rem; color: var(--accent-ink); }
.logo { width: auto; height: 2rem; max-width: 10rem; object-fit: contain; object-position: left; }
.person { display: flex; flex-wrap: wrap; align-items: center; column-gap: 1.25rem; width: 100%; }
.person p { flex: 1 0 100%; min-width: 0; }
.person b, .whoami b { color: var(--ink); font-weight: 600; }
.person a { display: inline-flex; align-items: center; min-width: 2.75rem; min-height: 2.75rem; color: inherit; }
.site ul { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.site li a { display: inline-flex; align-items: center; min-width: 2.75rem; min-height: 2.75rem; color: inherit; }
.languages { position: relative; margin-inline-start: auto; }
.languages summary { display: flex; align-items: center; gap: 0.375rem; min-height: 2.75rem; padding-inline: 0.5rem; margin-inline-end: -0.5rem; border-radius: 0.625rem; }
.languages summary .icon { width: 1.25rem; height: 1.25rem; }
.languages ul { position: absolute; z-index: 1; inset-inline-end: -0.5rem; display: block; min-width: 10.5rem; padding: 0.375rem; }
.languages li a { display: flex; padding-inline: 0.75rem; border-radius: 0.5rem; color: var(--ink); text-decoration: none; }
.languages li a:hover { background: var(--inset); }
.languages [aria-current] { color: var(--accent-ink); font-weight: 600; background: var(--accent-tint); }
footer.site { padding-block: 1rem; }
footer.site ul { justify-content: center; }
main { flex: 1; width: 100%; max-width: 62rem; margin-inline: auto; padding: 0.5rem 0 0; }

/* The card: on a phone the whole width, on a wider screen a sheet of paper. */
.card { background: var(--surface); border: 1px solid var(--line); border-inline-width: 0; padding: 1.75rem 1.25rem; }
.card > *, .card header > * { min-width: 0; }
h1 { font-size: 1.75rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.018em; text-wrap: balance; }
:lang(zh) h1 { word-break: keep-all; }
:lang(zh) h1, :lang(th) h1 { letter-spacing: 0; line-height: 1.4; }
h2 { font-size: 1rem; line-height: 1.4; font-weight: 650; }
.eyebrow { color: var(--accent-ink); font-size: 0.9375rem; font-weight: 600; margin-bottom: 0.375rem; }
.lead { margin-top: 0.75rem; color: var(--soft); font-size: 1.0625rem; }

/* What happens with the secret. */
.facts { margin-block: var(--gap); padding: 1.125rem 1.25rem; background: var(--inset); border: 1px solid var(--line); border-radius: 0.75rem; font-size: 0.9375rem; }
.facts dl { margin-top: 0.5rem; }
.facts dl div { display: flex; flex-wrap: wrap; column-gap: 0.75rem; padding-block: 0.3125rem; }
.facts dt, .facts .note { color: var(--soft); }
.facts dt { flex: 0 0 7.5rem; }
.facts dd { flex: 1 1 8rem; font-weight: 500; }
.facts dd:has(> code) { flex-basis: auto; }
.facts .note { display: block; font-weight: 400; }
code { font-family: var(--mono); font-size: 0.9em; }
.assurance { display: flex; gap: 0.625rem; margin-top: 0.75rem; padding-top: 0.875rem; border-top: 1px solid var(--line); }
.assurance .icon { width: 1.375rem; height: 1.375rem; color: var(--accent-ink); }

/* The form. */
form > * + *, .field > * + * { margin-top: 0.375rem; }
.description, .help { max-width: 34rem; }
.help a { display: inline-flex; align-items: center; flex-wrap: wrap; min-height: 2.75rem; }
.field { margin-top: var(--gap); }
form > .field:nth-of-type(1) { margin-top: 1.25rem; }
label { display: block; font-weight: 600; }
.hint { color: var(--soft); font-size: 0.9375rem; }
input, textarea, button { font: inherit; color: inherit; letter-spacing: inherit; }
input:not([type="hidden"]), textarea {
  display: block;
  width: 100%;
  min-height: 3rem;
  padding: 0.625rem 0.875rem;
  background: var(--surface);
  border: 1px solid var(--edge);
  border-radius: 0.625rem;
}
textarea { min-height: 8.5rem; resize: vertical; font-family: var(--mono); font-size: 0.9375rem; }
.veiled { -webkit-text-security: disc; }
input:focus-visible, textarea:focus-visible { outline-offset: -1px; border-color: var(--accent-ink); border-radius: 0.625rem; }
.has-problem { padding-inline-start: 1rem; border-inline-start: 4px solid var(--alarm); }
.has-problem input, .has-problem textarea { border-color: var(--alarm); }
.problem { display: flex; gap: 0.5rem; color: var(--alarm); font-weight: 500; }
.problem .icon { width: 1.25rem; height: 1.25rem; margin-top: 0.125rem; }
.summary { margin-top: var(--gap); padding: 1rem 1.25rem; background: var(--alarm-tint); border: 1px solid var(--alarm); border-radius: 0.75rem; }
.summary ul { margin-top: 0.25rem; margin-bottom: -0.5rem; }
.summary li a { display: inline-flex; align-items: center; min-height: 2.75rem; color: var(--alarm); font-weight: 600; }

/* What the person can do. */
.actions { display: grid; gap: 0.75rem; margin-top: 2rem; }
button, .button, .connection summary {
  min-height: 3rem;
  padding: 0.625rem 1.5rem;
  background: transparent;
  border: 1px solid var(--edge);
  border-radius: 0.625rem;
  font-weight: 600;
  cursor: pointer;
}
button:hover, .connection summary:hover { background: var(--inset); }
.main { background: var(--accent); border-color: var(--accent-edge); color: var(--on-accent); }
.main:hover { background: var(--accent-hover); }
button:focus-visible, .button:focus-visible, summary:focus-visible { border-radius: 0.625rem; }
.button { display: inline-flex; align-items: center; justify-content: center; text-align: center; text-decoration: none; }
.caution { font-weight: 500; }
.otherwise a { display: inline-flex; align-items: center; min-height: 2.75rem; }

/* What opens and closes. */
summary { list-style: none; cursor: pointer; }
summary::-webkit-details-marker { display: none; }
summary::after { content: ""; flex: none; width: 0.5rem; height: 0.5rem; margin-inline: 0.25rem; border: solid currentColor; border-width: 0 2px 2px 0; transform: translateY(-0.125rem) rotate(45deg); }
.languages ul, .panel { background: var(--surface); border: 1px solid var(--edge); border-radius: 0.75rem; box-shadow: 0 12px 32px -8px rgb(0 0 0 / 24%); }
[open] > summary::after { transform: translateY(0.125rem) rotate(225deg); }

/* Pages that tell how it went. */
.message p + p, .message h1 + p { margin-top: 0.875rem; }
.message h1 + p { font-size: 1.0625rem; }
.message p.actions { margin-top: 2rem; }
.message p.whoami { margin-block: 1.25rem; padding: 0.75rem 1rem; background: var(--inset); border: 1px solid var(--line); border-radius: 0.75rem; font-size: 1rem; }
.whoami span { display: block; color: var(--soft); font-size: 0.9375rem; }
.seal { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; margin-bottom: 1.25rem; border-radius: 50%; background: var(--inset); color: var(--soft); border: 1px solid var(--line); }
.seal .icon { width: 1.75rem; height: 1.75rem; }
.good .seal { background: var(--accent-tint); color: var(--accent-ink); border-color: transparent; }

/* What is connected. */
.owner { display: flex; gap: 0.625rem; margin-top: 1rem; color: var(--soft); font-size: 0.9375rem; }
.owner .icon { width: 1.375rem; height: 1.375rem; color: var(--accent-ink); }
.empty { margin-top: var(--gap); padding: 1.5rem 1.25rem; background: var(--inset); border: 1px solid var(--line); border-radius: 0.75rem; color: var(--soft); }
.connections section { margin-top: 2.25rem; }
.connections h2 { padding-bottom: 0.625rem; border-bottom: 1px solid var(--line); color: var(--soft); font-weight: 600; }
.connection { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.5rem 1rem; padding-block: 1.25rem; }
.connection + .connection { border-top: 1px solid var(--line); }
.connection h3 { margin: 0; font-size: 1.1875rem; line-height: 1.4; font-weight: 650; }
.connection .about, .connection form { grid-column: 1 / -1; }
.connection .about > * + * { margin-top: 0.5rem; }
.connection dl { font-size: 0.9375rem; }
.connection dl div { display: grid; grid-template-columns: 8.75rem minmax(0, 1fr); column-gap: 0.75rem; padding-block: 0.1875rem; }
.connection dt { color: var(--soft); }
@media (max-width: 35.99em) { .connection dl div:has(code) { display: block; } }
.connection dd { grid-column: 2; }
.connection dd + dd { margin-top: 0.25rem; }
.status { align-self: start; display: inline-flex; align-items: center; gap: 0.375rem; padding: 0.125rem 0.75rem 0.125rem 0.5rem; border: 1px solid var(--line); border-radius: 1rem; color: var(--soft); font-size: 0.875rem; font-weight: 600; }
.status .icon { width: 1.125rem; height: 1.125rem; }
.status.stored { background: var(--accent-tint); border-color: transparent; color: var(--accent-ink); }
.status.expired, .status.outdated, .status.rejected { background: var(--alarm-tint); border-color: transparent; color: var(--alarm); }
.connection form { position: relative; display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 0.5rem; }
.connection form > * { margin: 0; }
.connection button { min-height: 2.75rem; padding-block: 0.5rem; }
.connection summary { display: inline-flex; align-items: center; gap: 0.5rem; min-height: 2.75rem; padding: 0.5rem 1rem 0.5rem 1.25rem; border-color: transparent; }
.connection .panel { position: absolute; z-index: 1; inset-inline-start: 0; top: calc(100% + 0.5rem); max-width: min(100%, 24rem); padding: 1rem 1.25rem 1.25rem; }
.panel p { margin-bottom: 0.75rem; }
button.alarm { border-color: var(--alarm); color: var(--alarm); }
.sign-out { margin-top: 1rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }

@media (min-width: 36em) {
  :root { scrollbar-gutter: stable; }
  .person { width: auto; }
  .person p { flex: initial; }
  main { padding: 1.5rem 1.25rem 2rem; }
  .card { border-inline-width: 1px; border-radius: 1.125rem; padding: 2.5rem; box-shadow: 0 1px 2px rgb(0 0 0 / 4%), 0 12px 32px -12px rgb(0 0 0 / 12%); }
  .message { max-width: 36rem; margin-inline: auto; }
  .entry { max-width: 40rem; margin-inline: auto; }
  .connections { max-width: 46rem; margin-inline: auto; }
  h1 { font-size: 2rem; }
  .actions { display: flex; flex-wrap: wrap; }
}
@media (min-width: 60em) {
  main { padding-top: 2.5rem; }
  .entry { max-width: none; display: grid; grid-template: auto 1fr / minmax(0, 1fr) 23rem; padding: 0; overflow: clip; }
  .entry > header { padding: 2.75rem 3rem 0; }
  .entry > form { grid-column: 1; padding: 1.5rem 3rem 2.75rem; }
  .facts { grid-column: 2; grid-row: 1 / span 2; margin: 0; padding: 2.75rem 2.25rem; border-width: 0; border-inline-start-width: 1px; border-radius: 0; }
  .facts dl div { display: block; padding-block: 0.5rem; }
}
@media (prefers-contrast: more) {
  :root { --soft: var(--ink); --line: var(--edge); --edge: var(--ink); }
}
@media (prefers-reduced-motion: no-preference) {
  button, a, summary { transition: background-color 120ms ease-out; }
}
@media (forced-colors: active) {
  .main { border-width: 3px; }
  .status { border-color: CanvasText; }
  .seal { border-color: CanvasText; }
  :focus-visible { outline-color: Highlight; }
}
`;
