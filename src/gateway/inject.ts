/**
 * Puts a person's secrets into a request: the one point of injection, for every method. Two values never
 * go into one header: the file's check refuses that, and here nothing is sent.
 */
import { secretFieldsOf } from '../collect/kinds.ts';
import { canonicalHeader } from '../config/headers.ts';
import type { Secret } from '../vault/secrets.ts';
import type { HeldCredential } from './decide.ts';

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
  const names = held.flatMap(({ credential }) => credential.headers.map(({ name }) => canonicalHeader(name)));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two credentials are put into the header ${twice}`);
}

/** Every plain value that a secret puts on the wire, and its secret fields: what scrubbing looks for. */
export function sensitiveValues({ credential, secret }: HeldCredential): string[] {
  // Given for a definition that has changed since: which of its fields were secret is not known any more.
  if (secret.shape !== credential.config.shape) return Object.values(secret.fields);
  const names = secretFieldsOf(credential.config);
  const values = names.flatMap((name) => secret.fields[name] ?? []);
  // A rendered header may be a person's name for all we know; only one made with a secret field is a secret.
  const secretNames = new Set(names);
  const lines = credential.headers.filter((header) => header.value.fields.some((name) => secretNames.has(name)));
  return [...values, ...lines.map((header) => header.value.render(secret.fields))];
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
