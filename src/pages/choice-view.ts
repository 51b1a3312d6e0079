/**
 * The page of a question that any one of several credentials answers: the person picks what she gives.
 * It keeps the promises of views.ts; the pages that it leads to name the destination before anything is
 * given.
 */
import { shortName } from './plain-name.ts';
import { template } from './templates.ts';
import { page, type Form, type Frame } from './views.ts';
import { wordsIn } from './words.ts';

export interface Choice extends Form {
  /** The MCP server that asks, by its title. */
  readonly server: string;
  /** The tool that was called. */
  readonly purpose?: string | undefined;
  readonly options: readonly {
    /** The credential's title. */
    readonly title: string;
    readonly description?: string | undefined;
    /** The page on which it is given. */
    readonly href: string;
  }[];
}

const body = template(`<article class="card connections">
<header>
<p class="eyebrow"><%= it.askedBy %></p>
<h1><%= it.heading %></h1>
<p class="lead"><%= it.lead %></p>
<% if (it.purpose !== undefined) { %>
<p><%= it.purpose.term %>: <code><%= it.purpose.value %></code></p>
<% } %>
</header>
<% for (const { description, href, label } of it.options) { %>
<div class="connection">
<div class="about">
<% if (description !== undefined) { %>
<p><%= description %></p>
<% } %>
<p class="actions"><a class="button main" href="<%= href %>"><%= label %></a></p>
</div>
</div>
<% } %>
<form method="post" action="<%= it.action %>">
<input type="hidden" name="csrf" value="<%= it.csrf %>">
<div class="actions"><button name="action" value="decline"><%= it.decline %></button></div>
</form>
</article>
`);

/** Its form posts `csrf` and `action` = decline. */
export function renderChoice(frame: Frame, { action, csrf, server, purpose, options }: Choice): string {
  const { choice, entry, facts } = wordsIn(frame.language).words;
  const tool = shortName(purpose);
  return page(frame, choice.pageTitle(server), body({
    action,
    csrf,
    askedBy: entry.askedBy(server),
    heading: choice.heading,
    lead: choice.lead,
    purpose: tool === undefined ? undefined : { term: facts.neededFor, value: tool },
    options: options.map(({ title, description, href }) => ({ description, href, label: entry.heading(title) })),
    decline: entry.decline,
  }));
}
