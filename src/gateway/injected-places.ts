/**
 * Where one credential's values go in a request: headers, query parameters, tool arguments, keys of
 * `_meta` and variables, as the file says for the credential, or for it at this upstream.
 */
import type { Inject } from '../config/config.ts';
import type { Template } from '../config/template.ts';
import type { MemberPath } from '../protocol/json-edit.ts';

export interface NamedTemplate {
  /** As it is sent. */
  readonly name: string;
  readonly value: Template;
}

export interface ArgumentTemplate {
  /** Below `params.arguments`. */
  readonly path: MemberPath;
  readonly value: Template;
}

export interface Places {
  readonly headers: readonly NamedTemplate[];
  readonly query: readonly NamedTemplate[];
  readonly arguments: readonly ArgumentTemplate[];
  /** Keys of `params._meta`. */
  readonly meta: readonly NamedTemplate[];
  /** Variables of a process of the person's own. */
  readonly env: readonly NamedTemplate[];
}

export function placesOf(inject: Inject): Places {
  return {
    headers: named(inject.headers),
    query: named(inject.query),
    arguments: named(inject.arguments).map(({ name, value }) => ({ path: argumentPath(name), value })),
    meta: named(inject.meta),
    env: named(inject.env),
  };
}

/** Every template of these places. */
export function templatesIn({ headers, query, arguments: values, meta, env }: Places): readonly Template[] {
  return [...headers, ...query, ...values, ...meta, ...env].map(({ value }) => value);
}

function named(templates: Readonly<Record<string, Template>>): readonly NamedTemplate[] {
  return Object.entries(templates).map(([name, value]) => ({ name, value }));
}

/** `path.to.key` */
function argumentPath(dotted: string): MemberPath {
  const [first = dotted, ...rest] = dotted.split('.');
  return [first, ...rest];
}
