/**
 * The HTML of the pages that are about the person: her connections, and her consent to one more app.
 * The rules are those of templates.ts: everything is escaped, nothing is decided here.
 */
import { template } from './templates.ts';
import type { FactsModel, FormModel, LinkModel } from './templates.ts';

export interface ConsentModel extends FormModel {
  readonly askedBy: string;
  readonly heading: string;
  readonly lead: string;
  readonly caution: string;
  readonly facts: FactsModel;
  readonly allow: string;
  readonly decline: string;
  readonly replace: LinkModel;
}

export interface ConnectionModel {
  readonly id: string;
  readonly upstream: string;
  readonly credential: string;
  readonly title: string;
  readonly status: { readonly kind: string; readonly word: string; readonly icon: string; readonly note: string | undefined };
  readonly description: string | undefined;
  readonly facts: readonly { readonly term: string; readonly values: readonly FactValue[] }[];
  readonly connect: string;
  readonly isMain: boolean;
  readonly disconnect: { readonly label: string; readonly note: string; readonly now: string } | undefined;
}

export interface FactValue {
  readonly text: string;
  readonly isCode?: boolean;
  /** The same moment for machines (HTML `datetime`). */
  readonly datetime?: string;
}

export interface ConnectionsModel extends FormModel {
  readonly heading: string;
  readonly lead: string;
  readonly owner: { readonly icon: string; readonly text: string } | undefined;
  readonly empty: string;
  readonly groups: readonly { readonly id: string; readonly server: string; readonly connections: readonly ConnectionModel[] }[];
  readonly signOut: { readonly action: string; readonly label: string } | undefined;
}

export const consentBody: (model: ConsentModel) => string = template(`<article class="card entry">
<header>
<p class="eyebrow"><%= it.askedBy %></p>
<h1><%= it.heading %></h1>
<p class="lead"><%= it.lead %></p>
</header>
<%~ include('@facts', it.facts) %>
<form method="post" action="<%= it.action %>">
<input type="hidden" name="csrf" value="<%= it.csrf %>">
<p class="caution"><%= it.caution %></p>
<div class="actions">
<button class="main" name="action" value="agree"><%= it.allow %></button>
<button name="action" value="decline"><%= it.decline %></button>
</div>
<p class="otherwise"><a href="<%= it.replace.href %>"><%= it.replace.title %></a></p>
</form>
</article>
`);

export const connectionsBody: (model: ConnectionsModel) => string = template(`<article class="card connections">
<header>
<h1><%= it.heading %></h1>
<p class="lead"><%= it.lead %></p>
<% if (it.owner !== undefined) { %>
<p class="owner"><%~ it.owner.icon %><span><%= it.owner.text %></span></p>
<% } %>
</header>
<% if (it.groups.length === 0) { %>
<p class="empty"><%= it.empty %></p>
<% } %>
<% for (const { id, server, connections } of it.groups) { %>
<section aria-labelledby="<%= id %>">
<h2 id="<%= id %>"><%= server %></h2>
<% for (const connection of connections) { %>
<div class="connection">
<h3 id="<%= connection.id %>"><bdi><%= connection.title %></bdi></h3>
<p class="status <%~ connection.status.kind %>"><%~ connection.status.icon %><span><%= connection.status.word %></span></p>
<div class="about">
<% if (connection.description !== undefined) { %>
<p><%= connection.description %></p>
<% } %>
<% if (connection.status.note !== undefined) { %>
<p class="note"><%= connection.status.note %></p>
<% } %>
<dl>
<% for (const { term, values } of connection.facts) { %>
<div>
<dt><%= term %></dt>
<% for (const { text, isCode, datetime } of values) { %>
<dd><% if (datetime !== undefined) { %><time datetime="<%= datetime %>"><%= text %></time><% } else if (isCode) { %><code><bdi><%= text %></bdi></code><% } else { %><bdi><%= text %></bdi><% } %></dd>
<% } %>
</div>
<% } %>
</dl>
</div>
<form method="post" action="<%= it.action %>">
<input type="hidden" name="csrf" value="<%= it.csrf %>">
<input type="hidden" name="upstream" value="<%= connection.upstream %>">
<input type="hidden" name="credential" value="<%= connection.credential %>">
<button<%~ connection.isMain ? ' class="main"' : '' %> name="action" value="connect" aria-describedby="<%= connection.id %>"><%= connection.connect %></button>
<% if (connection.disconnect !== undefined) { %>
<details>
<summary aria-describedby="<%= connection.id %>"><%= connection.disconnect.label %></summary>
<div class="panel">
<p><%= connection.disconnect.note %></p>
<button class="alarm" name="action" value="disconnect" aria-describedby="<%= connection.id %>"><%= connection.disconnect.now %></button>
</div>
</details>
<% } %>
</form>
</div>
<% } %>
</section>
<% } %>
<% if (it.signOut !== undefined) { %>
<form class="sign-out" method="post" action="<%= it.signOut.action %>">
<input type="hidden" name="csrf" value="<%= it.csrf %>">
<button><%= it.signOut.label %></button>
</form>
<% } %>
</article>
`);
