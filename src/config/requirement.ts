/** One entry of a rule's `requires`: the credentials that it names. */
import type { Path } from './problem.ts';

export type WrittenRequirement = string | { readonly anyOf: readonly string[] } | { readonly credential: string; readonly scopes: readonly string[] };

interface Alternative {
  readonly name: string;
  /** Where the name stands, below the requirement. */
  readonly at: Path;
}

/** @returns the credentials any one of which meets the requirement, in the order of the file */
export function alternatives(requirement: WrittenRequirement): readonly Alternative[] {
  if (typeof requirement === 'string') return [{ name: requirement, at: [] }];
  if ('anyOf' in requirement) return requirement.anyOf.map((name, index) => ({ name, at: ['anyOf', index] }));
  return [{ name: requirement.credential, at: ['credential'] }];
}

/** @returns the credentials that a list of requirements names */
export function namesIn(requires: readonly WrittenRequirement[]): readonly string[] {
  return requires.flatMap(alternatives).map(({ name }) => name);
}
