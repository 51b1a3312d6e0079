/**
 * The HTML of the pages, as eta templates that are compiled once when this module loads. Every `<%=`
 * is escaped for text and quoted attributes; `<%~` is only for HTML that was made here or in assets.ts.
 * A value that is missing throws instead of printing "undefined". The templates decide nothing: what
 * to show, in which words and order, is decided in views.ts.
 */
import { Eta } from 'eta/core';

export interface DocumentModel {
  readonly language: string;
  readonly direction: string;
  readonly pageTitle: string;
  readonly favicon: string;
  readonly styleUrl: string;
  readonly siteName: string;
  readonly logoUrl: string | undefined;
  readonly mark: string;
  readonly signedIn: { readonly label: string; readonly account: string } | undefined;
  readonly personLinks: readonly LinkModel[];
  readonly languages: {
    readonly label: string;
    readonly current: string;
    readonly icon: string;
    readonly list: readonly { readonly code: string; readonly name: string; readonly href: string; readonly isCurrent: boolean }[];
  };
  readonly links: readonly LinkModel[];
  readonly body: string;
}

export interface LinkModel {
  readonly title: string;
  readonly href: string;
}

export interface FormModel {
  readonly action: string;
  readonly csrf: string;
}

export interface FieldModel {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly problem: string | undefined;
  readonly problemLabel: string;
  readonly describedBy: string | undefined;
  readonly kind: 'line' | 'secret-line' | 'lines' | 'secret-lines';
  readonly value: string;
  readonly hasFocus: boolean;
}

export interface FactsModel {
  readonly heading: string;
  readonly rows: readonly { readonly term: string; readonly value: string; readonly note: string | undefined; readonly isCode: boolean; /** Further values of the same kind. */ readonly more: readonly string[] }[];
  readonly assurance: string;
  readonly lockIcon: string;
}

export interface EntryModel extends FormModel {
  readonly askedBy: string;
  readonly heading: string;
  readonly lead: string;
  readonly facts: FactsModel;
  readonly noticeIcon: string;
  readonly description: string | undefined;
  readonly help: { readonly href: string; readonly text: string; readonly newTab: string } | undefined;
  readonly replaces: string | undefined;
  readonly summary: { readonly heading: string; readonly texts: readonly string[] } | undefined;
  /** That the value is tried before it is stored. */
  readonly trial: string | undefined;
  readonly storeAnyway: string | undefined;
  readonly fields: readonly FieldModel[];
  readonly give: string;
  readonly decline: string;
}

export interface MessageModel {
  readonly tone: 'good' | 'calm';
  readonly icon: string;
  readonly heading: string;
  /** Who is signed in, where that is what the page is about. */
  readonly account: { readonly label: string; readonly name: string } | undefined;
  readonly paragraphs: readonly string[];
  readonly link: LinkModel | undefined;
  readonly form: (FormModel & { readonly value: string; readonly label: string }) | undefined;
}

const eta = new Eta({ autoEscape: true, autoFilter: true, filterFunction: printable });

export const documentPage: (model: DocumentModel) => string = template(`<!doctype html>
<html lang="<%= it.language %>" dir="<%= it.direction %>">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title><%= it.pageTitle %></title>
<link rel="icon" type="image/svg+xml" href="<%= it.favicon %>">
<link rel="stylesheet" href="<%= it.styleUrl %>">
</head>
<body>
<header class="site">
<p class="brand">
<% if (it.logoUrl === undefined) { %>
<%~ it.mark %>
<% } else { %>
<img class="logo" src="<%= it.logoUrl %>" alt="" height="32">
<% } %>
<span><%= it.siteName %></span>
</p>
<% if (it.languages.list.length > 1) { %>
<nav class="languages" aria-label="<%= it.languages.label %>">
<details>
<summary><%~ it.languages.icon %><span><span class="unseen"><%= it.languages.label %></span> <%= it.languages.current %></span></summary>
<ul>
<% for (const { code, name, href, isCurrent } of it.languages.list) { %>
<li><a href="<%= href %>" lang="<%= code %>" hreflang="<%= code %>"<%~ isCurrent ? ' aria-current="true"' : '' %>><%= name %></a></li>
<% } %>
</ul>
</details>
</nav>
<% } %>
<% if (it.signedIn !== undefined || it.personLinks.length > 0) { %>
<div class="person">
<% if (it.signedIn !== undefined) { %>
<p><%= it.signedIn.label %> <b><bdi><%= it.signedIn.account %></bdi></b></p>
<% } %>
<% for (const { title, href } of it.personLinks) { %>
<a href="<%= href %>"><%= title %></a>
<% } %>
</div>
<% } %>
</header>
<main>
<%~ it.body %>
</main>
<% if (it.links.length > 0) { %>
<footer class="site">
<ul>
<% for (const { title, href } of it.links) { %>
<li><a href="<%= href %>" rel="noopener noreferrer"><%= title %></a></li>
<% } %>
</ul>
</footer>
<% } %>
</body>
</html>
`);

eta.loadTemplate('@field', `<div class="field<%~ it.problem === undefined ? '' : ' has-problem' %>">
<label for="<%= it.id %>"><%= it.label %></label>
<% if (it.hint !== undefined) { %>
<p class="hint" id="<%= it.id %>-hint"><%= it.hint %></p>
<% } %>
<% if (it.problem !== undefined) { %>
<p class="problem" id="<%= it.id %>-problem"><%~ it.noticeIcon %><span><span class="unseen"><%= it.problemLabel %></span> <%= it.problem %></span></p>
<% } %>
<% const isLines = it.kind === 'lines' || it.kind === 'secret-lines' %>
<<%~ isLines ? 'textarea rows="6"' : it.kind === 'secret-line' ? 'input type="password"' : 'input type="text"' %> id="<%= it.id %>" name="<%= it.name %>"
<%- if (it.kind === 'secret-lines') { %> class="veiled"<% } %>
<% if (!isLines && it.value !== '') { %> value="<%= it.value %>"<% } %>
<% if (it.describedBy !== undefined) { %> aria-describedby="<%= it.describedBy %>"<% } %>
<% if (it.problem !== undefined) { %> aria-invalid="true"<% } %>
<% if (it.hasFocus) { %> autofocus<% } %>
 required autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" inputmode="text" dir="auto">
<% if (isLines) { %><%= it.value %></textarea><% } %>
</div>
`);

eta.loadTemplate('@facts', `<section class="facts" aria-labelledby="facts">
<h2 id="facts"><%= it.heading %></h2>
<dl>
<% for (const { term, value, note, isCode, more } of it.rows) { %>
<div>
<dt><%= term %></dt>
<dd><% if (isCode) { %><code><bdi><%= value %></bdi></code><% } else { %><bdi><%= value %></bdi><% } %>
<% if (note !== undefined) { %>
<span class="note"><%= note %></span><% } %></dd>
<% for (const other of more) { %>
<dd><% if (isCode) { %><code><bdi><%= other %></bdi></code><% } else { %><bdi><%= other %></bdi><% } %></dd>
<% } %>
</div>
<% } %>
</dl>
<p class="assurance"><%~ it.lockIcon %><span><%= it.assurance %></span></p>
</section>
`);

export const entryBody: (model: EntryModel) => string = template(`<article class="card entry">
<header>
<p class="eyebrow"><%= it.askedBy %></p>
<h1><%= it.heading %></h1>
<p class="lead"><%= it.lead %></p>
<% if (it.summary !== undefined) { %>
<div class="summary" role="alert">
<h2><%= it.summary.heading %></h2>
<% for (const text of it.summary.texts) { %>
<p><%= text %></p>
<% } %>
<% const wrong = it.fields.filter((each) => each.problem !== undefined) %>
<% if (wrong.length > 0) { %>
<ul>
<% for (const field of wrong) { %>
<li><a href="#<%= field.id %>"><%= field.label %></a></li>
<% } %>
</ul>
<% } %>
</div>
<% } %>
</header>
<%~ include('@facts', it.facts) %>
<form method="post" action="<%= it.action %>" autocomplete="off">
<input type="hidden" name="csrf" value="<%= it.csrf %>">
<% if (it.description !== undefined) { %>
<p class="description"><%= it.description %></p>
<% } %>
<% if (it.replaces !== undefined) { %>
<p class="description"><%= it.replaces %></p>
<% } %>
<% if (it.help !== undefined) { %>
<p class="help"><a href="<%= it.help.href %>" target="_blank" rel="noopener noreferrer"><%= it.help.text %> <span class="unseen">(<%= it.help.newTab %>)</span></a></p>
<% } %>
<% for (const field of it.fields) { %>
<%~ include('@field', { ...field, noticeIcon: it.noticeIcon }) %>
<% } %>
<% if (it.trial !== undefined) { %>
<p class="hint"><%= it.trial %></p>
<% } %>
<div class="actions">
<button class="main" name="action" value="give"><%= it.give %></button>
<% if (it.storeAnyway !== undefined) { %>
<button name="action" value="store-anyway"><%= it.storeAnyway %></button>
<% } %>
<button name="action" value="decline" formnovalidate><%= it.decline %></button>
</div>
</form>
</article>
`);

export const messageBody: (model: MessageModel) => string = template(`<article class="card message <%~ it.tone %>">
<p class="seal"><%~ it.icon %></p>
<h1><%= it.heading %></h1>
<% if (it.account !== undefined) { %>
<p class="whoami"><span><%= it.account.label %></span> <b><bdi><%= it.account.name %></bdi></b></p>
<% } %>
<% for (const paragraph of it.paragraphs) { %>
<p><%= paragraph %></p>
<% } %>
<% if (it.link !== undefined) { %>
<p class="actions"><a class="button main" href="<%= it.link.href %>"><%= it.link.title %></a></p>
<% } %>
<% if (it.form !== undefined) { %>
<form method="post" action="<%= it.form.action %>">
<input type="hidden" name="csrf" value="<%= it.form.csrf %>">
<div class="actions"><button class="main" name="action" value="<%= it.form.value %>"><%= it.form.label %></button></div>
</form>
<% } %>
</article>
`);

/** Compiles a template of this module or of another one; it may include `@facts`. */
export function template(source: string): (model: object) => string {
  const compiled = eta.compile(source);
  return (model) => compiled.call(eta, model);
}

function printable(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a page has text to show where a template found ${typeof value}`);
}
