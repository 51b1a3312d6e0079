/** The environment of a person's own process: what her credentials put there, for upstreams that are programs. */
import type { HeldCredential } from './decide.ts';
import { mustBeApart } from './inject.ts';

/**
 * @returns names and values; nothing when no credential goes there
 * @throws Error when two credentials are put into one variable
 */
export function renderEnv(held: readonly HeldCredential[]): Readonly<Record<string, string>> {
  const pairs = held.flatMap(({ credential, secret }) => credential.env.map(({ name, value }) => [name, value.render(secret.fields)] as const));
  mustBeApart('variable', pairs.map(([name]) => name));
  return Object.fromEntries(pairs);
}
