/** The places into which a credential is put, as far as two of them can be one and the same. */
import { canonicalHeader } from './headers.ts';

export interface Target {
  readonly kind: 'header' | 'query parameter' | 'tool argument' | 'key of _meta' | 'variable';
  /** For messages: the place in the file's own words. */
  readonly what: string;
  readonly place: string;
}

type Maps = Readonly<Record<'headers' | 'query' | 'arguments' | 'meta' | 'env', Readonly<Record<string, unknown>>>>;

export function targetsOf(inject: Maps | undefined): readonly Target[] {
  if (inject === undefined) return [];
  return [
    ...Object.keys(inject.headers).map((name): Target => ({ kind: 'header', what: `the header ${name}`, place: canonicalHeader(name) })),
    ...Object.keys(inject.query).map((name): Target => ({ kind: 'query parameter', what: `the query parameter ${name}`, place: name })),
    ...Object.keys(inject.arguments).map((path): Target => ({ kind: 'tool argument', what: `the argument ${path}`, place: path })),
    ...Object.keys(inject.meta).map((key): Target => ({ kind: 'key of _meta', what: `_meta.${key}`, place: key })),
    ...Object.keys(inject.env).map((name): Target => ({ kind: 'variable', what: `the variable ${name}`, place: name })),
  ];
}

/** An argument and one that lies within it are the same place too. */
export function isSamePlace(one: Target, other: Target): boolean {
  if (one.kind !== other.kind) return false;
  return one.place === other.place || (one.kind === 'tool argument' && (one.place.startsWith(`${other.place}.`) || other.place.startsWith(`${one.place}.`)));
}
