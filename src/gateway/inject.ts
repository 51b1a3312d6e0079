/**
 * What a person's secrets put into a request, for every method; `inject-body.ts` puts them into the message
 * itself. Two values never go into one place: the file's check refuses that, and here nothing is sent.
 */
import { secretFieldsOf } from '../collect/kinds.ts';
import { canonicalHeader } from '../config/headers.ts';
import type { Secret } from '../vault/secrets.ts';
import type { HeldCredential } from './decide.ts';
import { templatesIn } from './injected-places.ts';

const rendered = new WeakMap<Secret, Map<HeldCredential['credential'], readonly string[]>>();

/**
 * Header list for upstream: name, value, name, value … Rendered once for each opened secret.
 * @throws Error when two credentials are put into one header
 */
export function renderHeaders(held: readonly HeldCredential[]): readonly string[] {
  const [first] = held;
  if (first === undefined) return [];
  if (held.length === 1) return headersOf(first);
  mustNotMeet(held);
  return held.flatMap((one) => [...headersOf(one)]);
}

function mustNotMeet(held: readonly HeldCredential[]): void {
  mustBeApart('header', held.flatMap(({ credential }) => credential.headers.map(({ name }) => canonicalHeader(name))));
}

/** @throws Error when two of these are the same place */
export function mustBeApart(kind: string, places: readonly string[]): void {
  const twice = places.find((place, at) => places.indexOf(place) !== at);
  if (twice !== undefined) throw new Error(`two credentials are put into the ${kind} ${twice}`);
}

/**
 * Query parameters for upstream: name, value, name, value …
 * @throws Error when two credentials are put into one parameter
 */
export function renderQuery(held: readonly HeldCredential[]): string[] {
  const pairs = held.flatMap(({ credential, secret }) => credential.query.map(({ name, value }) => ({ name, value: value.render(secret.fields) })));
  mustBeApart('query parameter', pairs.map(({ name }) => name));
  return pairs.flatMap(({ name, value }) => [name, value]);
}

/** Every plain value that a secret puts on the wire, and its secret fields: what scrubbing looks for. */
export function sensitiveValues({ credential, secret }: HeldCredential): string[] {
  // Given for a definition that has changed since: which of its fields were secret is not known any more.
  if (secret.shape !== credential.config.shape) return Object.values(secret.fields);
  const names = secretFieldsOf(credential.config);
  const values = names.flatMap((name) => secret.fields[name] ?? []);
  // A rendered value may be a person's name for all we know; only one made with a secret field is a secret.
  const secretNames = new Set(names);
  const lines = templatesIn(credential).filter((template) => template.fields.some((name) => secretNames.has(name)));
  return [...values, ...lines.map((template) => template.render(secret.fields))];
}

function headersOf(one: HeldCredential): readonly string[] {
  const bySecret = rendered.get(one.secret) ?? new Map<HeldCredential['credential'], readonly string[]>();
  rendered.set(one.secret, bySecret);
  const known = bySecret.get(one.credential);
  if (known !== undefined) return known;
  const fresh = one.credential.headers.flatMap((header) => [header.name, header.value.render(one.secret.fields)]);
  bySecret.set(one.credential, fresh);
  return fresh;
}
